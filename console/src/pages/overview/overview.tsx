import { Alert, Badge, Group, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/client';
import type { Overview } from '../../api/generated/schema';
import { type Connection, useEvents } from '../../api/live';
import { useAddress } from '../../components/lists/address';
import { Page } from '../../components/page/page';
import { Card } from '../../components/page/section';
import { Failure, Loading } from '../../components/page/states';
import { Instant } from '../../components/values/values';
import { Caps } from './caps';
import { FindingsByAge } from './findings';
import { Latencies, Outcomes } from './outcomes';
import { Tiles } from './tiles';
import { Wallets } from './wallets';
import { datesOf, windowOf } from './window';

/** Loaded separately, because charts are a third of all scripts. */
const History = lazy(() => import('./history'));

const NAMES = ['days'] as const;
const SPANS = ['7', '14', '31'];

/** The proxy confirms every ten seconds that nothing has changed. */
const QUIET_MS = 30_000;

type AsOf = Pick<Overview, 'as_of'>;

/** Shows the overview live, with the sections that the key may see. */
export default function OverviewPage() {
  const { values, change } = useAddress(NAMES);
  const days = SPANS.includes(values.days ?? '') ? (values.days as string) : '7';
  const [latest, setLatest] = useState<{ days: string; overview: Overview }>();
  const connection = useEvents(
    `/v1/overview?days=${days}`,
    {
      overview: (data) => setLatest({ days, overview: data as Overview }),
      current: (data) =>
        setLatest((was) => was && { ...was, overview: { ...was.overview, ...(data as AsOf) } }),
    },
    { quietMs: QUIET_MS },
  );
  // Figures of another period must not be shown.
  const overview = latest?.days === days ? latest.overview : undefined;
  // A stream that cannot start gives no reason. A plain request does.
  const failed = connection === 'lost' && overview === undefined;
  const { error, refetch } = api.useQuery('get', '/v1/overview', {}, { enabled: failed });
  return (
    <Page
      title="Overview"
      actions={
        <>
          <LiveBadge connection={connection} asOf={overview?.as_of} />
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
  const { history, as_of: asOf, stops, storage, findings, clients, wallets } = overview;
  return (
    <Stack gap="md">
      {stops !== null && stops.active > 0 && (
        <Alert color="red" title="Payouts are stopped">
          {stops.active === 1 ? 'A stop is active' : `${stops.active} stops are active`}. Requests that it
          covers are refused until it is lifted.
        </Alert>
      )}
      {storage.length > 0 && (
        <Alert color="red" title="The storage of this instance rejects writes">
          {storage.map(({ place, cause, detail }) => (
            <Text key={`${place} ${cause}`} size="sm">
              {detail}
            </Text>
          ))}
        </Alert>
      )}
      <Tiles overview={overview} />
      {history !== null && (
        <>
          <Suspense fallback={<Loading lines={8} label="Loading the chart" />}>
            <History days={history.days} dates={datesOf(asOf, span)} />
          </Suspense>
          <SimpleGrid cols={{ base: 1, lg: 2 }}>
            <Outcomes outcomes={history.outcomes} window={windowOf(datesOf(asOf, span))} />
            <Latencies latencies={history.upstream_ms} />
          </SimpleGrid>
        </>
      )}
      <SimpleGrid cols={{ base: 1, lg: findings && clients ? 2 : 1 }}>
        {findings !== null && <FindingsByAge ages={findings} run={overview.last_run} />}
        {clients !== null && (
          <Card title="Caps used by clients">
            <Caps clients={clients} />
          </Card>
        )}
        {wallets !== null && wallets.length > 0 && (
          <Card title="Wallets">
            <Wallets wallets={wallets} />
          </Card>
        )}
      </SimpleGrid>
    </Stack>
  );
}

const CONNECTIONS: Record<Connection, { color: string; words: string }> = {
  connecting: { color: 'gray', words: 'connecting' },
  live: { color: 'teal', words: 'live' },
  lost: { color: 'gray', words: 'cannot be reached; retrying' },
};

function LiveBadge({ connection, asOf }: { connection: Connection; asOf: string | undefined }) {
  const { color, words } = CONNECTIONS[connection];
  return (
    <Group role="status" gap="xs">
      {connection === 'lost' && asOf !== undefined && (
        <Text size="xs">
          last updated <Instant at={asOf} />
        </Text>
      )}
      <Badge variant="dot" color={color} tt="none">
        {words}
      </Badge>
    </Group>
  );
}
