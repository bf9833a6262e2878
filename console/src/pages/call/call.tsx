import { Alert, Button, Grid, Group, Stack, Text } from '@mantine/core';
import { Eye, EyeOff } from 'lucide-react';
import { useState, useEffect } from 'react';
import { useParams } from 'wouter';
import { api, revealing } from '../../api/client';
import type { CallTimeline } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { DataTable } from '../../components/lists/data-table';
import { Page } from '../../components/page/page';
import { Section } from '../../components/page/section';
import { Failure, Loading } from '../../components/page/states';
import { OutcomeBadge } from '../../components/values/badges';
import { clientWords } from '../../components/values/format';
import { Usd } from '../../components/values/values';
import { COLUMNS } from '../activity/columns';
import { Attribute } from './attribute';
import { Facts } from './facts';
import { Findings } from './findings';
import { Items } from './items/items';
import { Messages } from './messages/messages';
import { Proof } from './proof/proof';
import { Readers } from './readers';
import { Settle } from './settle';
import { History } from './timeline/history';

/** Shows all records of one call. */
export default function CallPage() {
  const { id = '' } = useParams();
  const [revealed, setRevealed] = useState(false);
  const { timeline, readers, isRevealed, isRevealing, error, retry } = useTimeline(id, revealed);
  if (!timeline) {
    return (
      <Page title="Call">{error ? <Failure error={error} retry={retry} /> : <Loading lines={8} />}</Page>
    );
  }
  return (
    <Page
      title={timeline.operation}
      lead={<Summary timeline={timeline} />}
      actions={
        <>
          <Reveal revealed={isRevealed} busy={isRevealing} reveal={setRevealed} />
          <Attribute timeline={timeline} />
          <Settle timeline={timeline} />
        </>
      }
    >
      {error !== null && <Failure error={error} retry={retry} />}
      {isRevealed && (
        <Alert variant="light" color="orange" role="status">
          People are not masked. Your access was recorded. See the list of readers below.
        </Alert>
      )}
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="xl">
            <Facts timeline={timeline} />
            <History timeline={timeline} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="xl">
            <Findings timeline={timeline} />
            <Items timeline={timeline} />
            <Messages timeline={timeline} revealed={isRevealed} />
            <Proof timeline={timeline} revealed={isRevealed} />
            <Actions timeline={timeline} />
            <Readers readers={readers} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function Summary({ timeline }: { timeline: CallTimeline }) {
  return (
    <Group component="span" gap="xs" mt={4}>
      <OutcomeBadge outcome={timeline.outcome} />
      <Text span inherit>
        {clientWords(timeline.client, timeline.account)}
      </Text>
      {timeline.total_usd !== null && (
        <Text span inherit fw={600} c="var(--mantine-color-text)">
          <Usd amount={timeline.total_usd} />
        </Text>
      )}
    </Group>
  );
}

interface RevealProps {
  revealed: boolean;
  busy: boolean;
  reveal: (revealed: boolean) => void;
}

function Reveal({ revealed, busy, reveal }: RevealProps) {
  const { may } = useSession();
  if (!may('audit:pii')) return null;
  return (
    <Button
      variant="default"
      size="xs"
      loading={busy}
      leftSection={revealed ? <EyeOff size={14} aria-hidden /> : <Eye size={14} aria-hidden />}
      title={revealed ? undefined : 'The history records each person who sees them.'}
      onClick={() => reveal(!revealed)}
    >
      {revealed ? 'Mask people again' : 'Reveal people (recorded)'}
    </Button>
  );
}

/** Shows the changes shortly before the call, which may explain its outcome. */
function Actions({ timeline: { acts_before: acts } }: { timeline: CallTimeline }) {
  if (acts.length === 0) return null;
  return (
    <Section
      title="Changes in the day before"
      lead="Changes of the client, stops, and changes of the configuration. Newest first, at most 20."
    >
      <DataTable
        label="Changes"
        columns={COLUMNS}
        rows={acts}
        keyOf={({ id, action }) => `${action} ${id}`}
        empty="Nothing was changed."
      />
    </Section>
  );
}

/** Polling of a call whose records are not sealed yet. */
const SEALED_WITHIN = { everyMs: 2_000, times: 5 };

/** Each request is recorded as a read, so focusing the window sends none. */
const ONCE = { staleTime: Infinity, refetchOnWindowFocus: false, refetchOnReconnect: false } as const;

/**
 * Reads a call's timeline, masked at first.
 * @param revealed whether to unmask people. Unmasked data is requested each time, and discarded with the
 * page.
 */
function useTimeline(id: string, revealed: boolean) {
  const params = { path: { id } };
  const masked = api.useQuery(
    'get',
    '/v1/audit/calls/{id}',
    { params },
    {
      ...ONCE,
      staleTime: 0,
      refetchInterval: ({ state: { data, dataUpdateCount } }) =>
        data && isUnsealed(data) && dataUpdateCount <= SEALED_WITHIN.times ? SEALED_WITHIN.everyMs : false,
    },
  );
  const open = api.useQuery(
    'get',
    '/v1/audit/calls/{id}',
    { params, headers: revealing(true) },
    { ...ONCE, gcTime: 0, enabled: revealed },
  );
  const { refetch } = masked;
  const shownAt = open.dataUpdatedAt;
  useEffect(() => {
    if (shownAt > 0) void refetch(); // The list of readers now includes this read.
  }, [shownAt, refetch]);

  const isRevealed = revealed && open.data !== undefined;
  return {
    timeline: isRevealed ? open.data : masked.data,
    readers: masked.data?.accesses,
    isRevealed,
    isRevealing: revealed && open.isFetching,
    error: (revealed ? open.error : null) ?? masked.error,
    retry: () => (revealed && open.error ? open.refetch() : masked.refetch()),
  };
}

const isUnsealed = ({ seals }: CallTimeline) => seals.some(({ index }) => index === null);
