import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { api, revealing, whilePaging } from '../../../api/client';
import type { ClientDto, PersonDto, paths } from '../../../api/generated/schema';
import { useSession } from '../../../api/session';
import { useAddress } from '../../../components/lists/address';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Entry } from '../../../components/lists/filter-inputs';
import { Pager } from '../../../components/lists/pager';
import { PeopleSwitch } from '../../../components/lists/people-switch';
import { Page } from '../../../components/page/page';
import { Instant } from '../../../components/values/values';
import { CapUsage } from '../limits/cap-usage';
import { LABELS } from '../limits/draft';
import { LimitPerson } from './limit-person';
import { defaultInWords, defaultOf, OWN_LIMITS, ownLimitsInWords, personWords } from './person-limits';

type Query = NonNullable<paths['/v1/clients/{name}/persons']['get']['parameters']['query']>;

const NAMES = ['name'] as const;

/** Shows the people of a client, what they have spent, and their own limits. */
export default function PersonsPage() {
  const { name: client = '' } = useParams();
  const { may } = useSession();
  const [, navigate] = useLocation();
  const { values, change, page } = useAddress(NAMES);
  const [reveal, setReveal] = useState(false);
  const [adding, setAdding] = useState(false);
  const query: Query = { ...values, ...page };
  const init = { params: { path: { name: client }, query }, headers: revealing(reveal) };
  const { data, error, refetch } = api.useQuery(
    'get',
    '/v1/clients/{name}/persons',
    init,
    whilePaging(reveal),
  );
  const { data: of } = api.useQuery('get', '/v1/clients/{name}', { params: { path: { name: client } } });
  const open = (id: string) => navigate(`/clients/${client}/persons/${encodeURIComponent(id)}`);
  return (
    <Page
      title="People"
      lead={of ? defaultsOf(of) : client}
      actions={
        <Button leftSection={<Plus size={16} aria-hidden />} disabled={!of} onClick={() => setAdding(true)}>
          Limit a person
        </Button>
      }
    >
      <Links client={client} />
      <Group justify="space-between" align="flex-end" gap="sm">
        <Group gap="sm" align="flex-end">
          <Entry
            key={values.name}
            label="Name"
            placeholder="Exactly"
            value={values.name}
            enter={(name) => change({ name })}
          />
          <Entry label="Person ID" placeholder="As in records" value={undefined} enter={open} />
        </Group>
        <PeopleSwitch reveal={reveal} setReveal={setReveal} />
      </Group>
      <DataTable
        label="People"
        columns={columnsOf(client, may('audit'))}
        rows={data?.persons}
        keyOf={({ id }) => id}
        error={error}
        retry={refetch}
        empty={
          values.name === undefined
            ? 'No people yet. A person is added with their first call, or when you limit them.'
            : 'No person of this client has exactly this name.'
        }
      />
      <Pager next={data?.next_page_token} />
      {adding && of && <LimitPerson client={of} saved={open} close={() => setAdding(false)} />}
    </Page>
  );
}

/** Describes the client's defaults for its people. */
function defaultsOf(client: ClientDto): string {
  const set = OWN_LIMITS.filter((name) => defaultOf(client, name) !== null);
  const limits = set.map((name) => `${LABELS[name].toLowerCase()} ${defaultInWords(client, name)}`);
  return (
    `People on whose behalf ${client.name} calls. Default limits of each person: ` +
    `${limits.join(', ') || 'none'}.`
  );
}

function Links({ client }: { client: string }) {
  return (
    <Group>
      <Anchor component={Link} href={`/clients/${client}`} size="sm">
        Client {client}
      </Anchor>
      <Anchor component={Link} href={`/activity?client=${client}&action=person_limits_changed`} size="sm">
        Changed limits
      </Anchor>
    </Group>
  );
}

function columnsOf(client: string, mayAudit: boolean): Column<PersonDto>[] {
  const calls: Column<PersonDto> = { id: 'calls', title: 'Calls', render: (person) => <Calls of={person} /> };
  return [
    { id: 'person', title: 'Person', render: (person) => <Who client={client} of={person} /> },
    {
      id: 'day',
      title: 'Today, UTC',
      render: (person) => <CapUsage cap={person.usage.daily} label={`${personWords(person)}, today`} />,
    },
    {
      id: 'month',
      title: 'This month',
      render: (person) => (
        <CapUsage cap={person.usage.monthly} label={`${personWords(person)}, this month`} />
      ),
    },
    { id: 'limits', title: 'Own limits', render: OwnLimits },
    { id: 'seen', title: 'First seen', render: ({ first_seen_at: at }) => <Instant at={at} relative /> },
    { id: 'revoked', title: 'Last revoked', render: ({ revoked_at: at }) => <Instant at={at} relative /> },
    ...(mayAudit ? [calls] : []),
  ];
}

function Who({ client, of }: { client: string; of: PersonDto }) {
  return (
    <Stack gap={0} miw={150} className="wrap-anywhere">
      <Anchor component={Link} href={`/clients/${client}/persons/${of.id}`} size="sm" fw={600}>
        {personWords(of)}
      </Anchor>
      <Text size="xs" c="dimmed">
        {of.name === null ? 'without a name' : (of.issuer ?? 'named by the app')}
      </Text>
    </Stack>
  );
}

function OwnLimits(person: PersonDto) {
  const words = ownLimitsInWords(person);
  return (
    <Text size="sm" miw={150} c={words === '' ? 'dimmed' : 'inherit'}>
      {words === '' ? 'none' : words}
    </Text>
  );
}

function Calls({ of }: { of: PersonDto }) {
  return (
    <Anchor
      component={Link}
      href={`/calls?person_id=${of.id}`}
      size="sm"
      aria-label={`Calls of ${personWords(of)}`}
    >
      Calls
    </Anchor>
  );
}
