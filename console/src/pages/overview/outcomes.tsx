import { Anchor, Group, Progress, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { OutcomeCount, OperationLatency } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Card } from '../../components/page/section';
import { Empty } from '../../components/page/states';
import { formatCount } from '../../components/values/format';
import { Operation } from '../../components/values/values';
import { outcomeColor, outcomeWords } from '../../words/outcomes';
import { listOf, type Window } from './window';

/** Shows the outcomes of calls, most frequent first. */
export function Outcomes({ outcomes, window }: { outcomes: OutcomeCount[]; window: Window }) {
  const all = outcomes.reduce((sum, { calls }) => sum + calls, 0);
  const sorted = [...outcomes].sort((one, other) => other.calls - one.calls);
  return (
    <Card title="Outcomes">
      {all === 0 && <Empty>No calls in this period.</Empty>}
      <Stack gap="xs">
        {sorted.map(({ outcome, calls }) => (
          <div key={outcome}>
            <Group justify="space-between">
              <Anchor component={Link} href={listOf('calls', window, { outcome })} size="sm">
                {outcomeWords(outcome)}
              </Anchor>
              <Text size="sm">
                {formatCount(calls)}{' '}
                <Text span c="dimmed" inherit>
                  ({((100 * calls) / all).toFixed(1)} %)
                </Text>
              </Text>
            </Group>
            <Progress
              value={(100 * calls) / all}
              color={outcomeColor(outcome)}
              size="sm"
              aria-label={`${outcomeWords(outcome)}, share of all calls`}
            />
          </div>
        ))}
      </Stack>
    </Card>
  );
}

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
