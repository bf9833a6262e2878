import { Stack } from '@mantine/core';
import { api } from '../../api/client';
import type { StopRecord } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Page } from '../../components/page/page';
import { Section } from '../../components/page/section';
import { Answer } from '../../components/page/states';
import { Instant, Maybe } from '../../components/values/values';
import { inShort, targetOf } from '../../words/stops';
import { ActiveStops, StopAuthor } from './active-stops';
import { NewStop } from './new-stop';

const REFETCH_MS = 15_000;

/** Stops payments and writes immediately, on every instance. */
export default function StopsPage() {
  const stops = api.useQuery(
    'get',
    '/v1/stops',
    { params: { query: { all: 'true' } } },
    { refetchInterval: REFETCH_MS },
  );
  return (
    <Page
      title="Stop switch"
      lead="Stops payouts and other writes immediately, on every instance of the proxy."
    >
      <Answer of={stops}>
        {({ stops: all }) => (
          <Stack gap="xl">
            <ActiveStops stops={all.filter(({ lifted_at: lifted }) => lifted === null)} />
            <Section title="New stop">
              <NewStop />
            </Section>
            <Section title="Lifted stops">
              <PastStops stops={all.filter(({ lifted_at: lifted }) => lifted !== null)} />
            </Section>
          </Stack>
        )}
      </Answer>
    </Page>
  );
}

const COLUMNS: Column<StopRecord>[] = [
  { id: 'what', title: 'What', render: (stop) => inShort(targetOf(stop)) },
  { id: 'reason', title: 'Reason', render: ({ reason }) => <Maybe text={reason} /> },
  { id: 'stopped', title: 'Stopped', render: ({ stopped_at: at }) => <Instant at={at} /> },
  { id: 'by', title: 'By', render: ({ stopped_by: by, cause }) => <StopAuthor of={by} cause={cause} /> },
  { id: 'lifted', title: 'Lifted', render: ({ lifted_at: at }) => <Instant at={at} /> },
  { id: 'lifter', title: 'By', render: ({ lifted_by: by }) => <StopAuthor of={by} /> },
];

function PastStops({ stops }: { stops: StopRecord[] }) {
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
