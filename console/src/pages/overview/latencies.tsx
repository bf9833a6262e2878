import type { OperationLatency } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { formatCount } from '../../components/values/format';
import { Operation } from '../../components/values/values';
import { Card } from '../../components/page/section';

const milliseconds = (ms: number) => formatCount(ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms));

const COLUMNS: Column<OperationLatency>[] = [
  { id: 'operation', title: 'Operation', render: ({ operation }) => <Operation name={operation} /> },
  { id: 'calls', title: 'Calls', numeric: true, render: ({ calls }) => formatCount(calls) },
  { id: 'p50', title: 'p50', numeric: true, render: ({ p50 }) => milliseconds(p50) },
  { id: 'p95', title: 'p95', numeric: true, render: ({ p95 }) => milliseconds(p95) },
  { id: 'p99', title: 'p99', numeric: true, render: ({ p99 }) => milliseconds(p99) },
];

/** Shows the latency of the upstream. */
export function Latencies({ latencies }: { latencies: OperationLatency[] }) {
  return (
    <Card title="Upstream latency, milliseconds">
      <DataTable
        label="Upstream latency"
        columns={COLUMNS}
        rows={latencies}
        keyOf={({ operation }) => operation}
        empty="No requests to the upstream in this period."
      />
    </Card>
  );
}
