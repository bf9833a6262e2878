import { Stack } from '@mantine/core';
import { api } from '../../api/client';
import { Page } from '../../components/page/page';
import { Section } from '../../components/page/section';
import { Answer } from '../../components/page/states';
import { Holding } from './holding';
import { NewStop } from './new-stop';
import { PastStops } from './past-stops';

const REFETCH_MS = 15_000;

/** Stops payments and writes, at once and on every instance. */
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
            <Holding stops={all.filter(({ lifted_at: lifted }) => lifted === null)} />
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
