import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { ActivityRecord } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import type { Column } from '../../components/lists/data-table';
import { ChangedFields } from '../../components/values/changed-fields';
import { inWords } from '../../components/values/format';
import { Instant, Maybe, Operation } from '../../components/values/values';
import { CHANNEL_WORDS } from '../../words/activity';

export const COLUMNS: Column<ActivityRecord>[] = [
  { id: 'at', title: 'When', render: ({ at }) => <Instant at={at} /> },
  {
    id: 'act',
    title: 'Action',
    render: ({ action }) => <b style={{ whiteSpace: 'nowrap' }}>{inWords(action)}</b>,
  },
  { id: 'target', title: 'Target', render: (act) => <Target act={act} /> },
  { id: 'change', title: 'Change', render: (act) => <ChangedFields of={act} /> },
  { id: 'by', title: 'By', render: (act) => <Author act={act} /> },
  { id: 'reason', title: 'Reason', render: ({ reason }) => <Maybe text={reason} /> },
];

/** Shows the target of an action, with a link to the calls that followed. */
function Target({ act: { action, target, at, after } }: { act: ActivityRecord }) {
  const { may } = useSession();
  const { client, operation } = target;
  if (client === null && action === 'configuration_changed') return <CallsAfter at={at} />;
  if (client === null)
    return operation === null ? <Maybe text={undefined} /> : <Operation name={operation} />;
  const name = client.name ?? client.id;
  return (
    <Stack gap={0}>
      {may('admin') ? (
        <Anchor component={Link} href={`/clients/${name}`} size="sm" fw={600}>
          {name}
        </Anchor>
      ) : (
        <b>{name}</b>
      )}
      {typeof after?.person_id === 'string' && <PersonOf client={name} id={after.person_id} />}
      <CallsAfter at={at} client={name} />
    </Stack>
  );
}

/** Links to the person of an action, or to the calls of that person. */
function PersonOf({ client, id }: { client: string; id: string }) {
  const { may } = useSession();
  return (
    <Anchor
      component={Link}
      href={may('admin') ? `/clients/${client}/persons/${id}` : `/calls?person_id=${id}`}
      size="xs"
    >
      {may('admin') ? 'the person' : 'calls of the person'}
    </Anchor>
  );
}

function CallsAfter({ at, client }: { at: string; client?: string }) {
  const { may } = useSession();
  if (!may('audit')) return client === undefined ? <Maybe text={undefined} /> : null;
  const calls = new URLSearchParams({ from: at });
  if (client !== undefined) calls.set('client', client);
  return (
    <Anchor
      component={Link}
      href={`/calls?${calls.toString()}`}
      size="xs"
      style={{ whiteSpace: 'nowrap' }}
      aria-label={`later calls of ${client ?? 'all clients'}`}
    >
      {' '}
      later calls{' '}
    </Anchor>
  );
}

function Author({ act: { by, via, client_address: address } }: { act: ActivityRecord }) {
  const who = by.actor ?? by.client?.name;
  return (
    <Stack gap={0}>
      {who !== undefined && <span className="wrap-anywhere">{who}</span>}
      <Text size="xs" c="dimmed">
        {[
          by.actor !== null && by.client !== null && `of ${by.client.name}`,
          CHANNEL_WORDS[via],
          address && `from ${address}`,
        ]
          .filter(Boolean)
          .join(', ')}
      </Text>
    </Stack>
  );
}
