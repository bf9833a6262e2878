import type { StopRecord } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Instant, Maybe } from '../../components/values/values';
import { StopAuthor } from './stop-author';
import { inShort, targetOf } from '../../components/values/stop-words';

const COLUMNS: Column<StopRecord>[] = [
  { id: 'what', title: 'What', render: (stop) => inShort(targetOf(stop)) },
  { id: 'reason', title: 'Reason', render: ({ reason }) => <Maybe text={reason} /> },
  { id: 'stopped', title: 'Stopped', render: ({ stopped_at: at }) => <Instant at={at} /> },
  { id: 'by', title: 'By', render: ({ stopped_by: by, cause }) => <StopAuthor of={by} cause={cause} /> },
  { id: 'lifted', title: 'Lifted', render: ({ lifted_at: at }) => <Instant at={at} /> },
  { id: 'lifter', title: 'By', render: ({ lifted_by: by }) => <StopAuthor of={by} /> },
];

export function PastStops({ stops }: { stops: StopRecord[] }) {
  return (
    <DataTable
      label="Lifted stops"
      columns={COLUMNS}
      rows={stops}
      keyOf={({ id }) => id}
      empty="No stops have been lifted."
    />
  );
}
