import { Alert, Badge, Group, SegmentedControl, SimpleGrid, Stack } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/client';
import type { Overview } from '../../api/generated/schema';
import { type Connection, useEvents } from '../../api/live';
import { useAddress } from '../../components/address';
import { Page } from '../../components/page';
import { Failure, Loading } from '../../components/states';
import { Caps } from './caps';
import { Card } from './card';
import { FindingsByAge } from './findings';
import { Latencies } from './latencies';
import { Outcomes } from './outcomes';
import { Tiles } from './tiles';

/** Charts are a third of all script: the rest of the page does not wait for them. */
const History = lazy(() => import('./history'));

const NAMES = ['days'] as const;
const SPANS = ['7', '14', '31'];

/** How things stand, live: what a key may know of them. */
export default function OverviewPage() {
  const { values, change } = useAddress(NAMES);
  const days = SPANS.includes(values.days ?? '') ? (values.days as string) : '7';
  const [overview, setOverview] = useState<Overview>();
  const connection = useEvents(`/v1/overview?days=${days}`, { overview: (data) => setOverview(data as Overview) });
  // A stream that cannot begin does not say why; the same asked for once does.
  const failed = connection === 'lost' && overview === undefined;
  const { error, refetch } = api.useQuery('get', '/v1/overview', {}, { enabled: failed });
  return (
    <Page
      title="Overview"
      actions={
        <>
          <LiveBadge connection={connection} />
          <SegmentedControl
            size="xs"
            aria-label="Period"
            value={days}
            onChange={(span) => change({ days: span })}
            data={SPANS.map((span) => ({ value: span, label: `${span} days` }))}
          />
        </>
      }
    >
      {overview ? (
        <Sections overview={overview} span={Number(days)} />
      ) : error ? (
        <Failure error={error} retry={refetch} />
      ) : (
        <Loading lines={10} />
      )}
    </Page>
  );
}

function Sections({ overview, span }: { overview: Overview; span: number }) {
  const { history, as_of: asOf, stops, findings, clients } = overview;
  return (
    <Stack gap="md">
      {stops !== null && stops.active > 0 && (
        <Alert color="red" title="Payouts are stopped">
          {stops.active === 1 ? 'A stop holds' : `${stops.active} stops hold`}: what it names is refused until it is
          lifted.
        </Alert>
      )}
      <Tiles overview={overview} />
      {history !== null && (
        <>
          <Suspense fallback={<Loading lines={8} label="Loading the chart" />}>
            <History days={history.days} span={span} until={asOf} />
          </Suspense>
          <SimpleGrid cols={{ base: 1, lg: 2 }}>
            <Outcomes outcomes={history.outcomes} />
            <Latencies latencies={history.upstream_ms} />
          </SimpleGrid>
        </>
      )}
      <SimpleGrid cols={{ base: 1, lg: findings && clients ? 2 : 1 }}>
        {findings !== null && <FindingsByAge ages={findings} />}
        {clients !== null && (
          <Card title="Caps used by clients">
            <Caps clients={clients} />
          </Card>
        )}
      </SimpleGrid>
    </Stack>
  );
}

const CONNECTIONS: Record<Connection, { color: string; words: string }> = {
  connecting: { color: 'gray', words: 'connecting' },
  live: { color: 'teal', words: 'live' },
  lost: { color: 'orange', words: 'connection lost; trying again' },
};

function LiveBadge({ connection }: { connection: Connection }) {
  const { color, words } = CONNECTIONS[connection];
  return (
    <Group role="status">
      <Badge variant="dot" color={color} tt="none">
        {words}
      </Badge>
    </Group>
  );
}
