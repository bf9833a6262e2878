import { Alert, Anchor, Button, Group, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useAccounts } from '../../api/accounts';
import { api } from '../../api/client';
import type { AccountDto, ClientDto } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Page } from '../../components/page/page';
import { WordBadge } from '../../components/values/badges';
import { CreateClient } from './create-client';
import { UpstreamFees } from './fees';
import { NewKeyDialog } from './keys/new-key-dialog';
import { CapUsage } from './limits/cap-usage';
import { changesOf, draftOf, limitInWords, LABELS, NO_LIMITS } from './limits/draft';

const NAME: Column<ClientDto> = { id: 'name', title: 'Client', render: Name };
const ACCOUNT: Column<ClientDto> = { id: 'account', title: 'Account', render: ({ account }) => account };
const COLUMNS: Column<ClientDto>[] = [
  { id: 'scopes', title: 'Scopes', render: Scopes },
  { id: 'keys', title: 'Active keys', numeric: true, render: ({ active_keys: keys }) => keys },
  {
    id: 'day',
    title: 'Today, UTC',
    render: ({ name, usage }) => <CapUsage cap={usage.daily} label={`${name}, today`} />,
  },
  {
    id: 'month',
    title: 'This month',
    render: ({ name, usage }) => <CapUsage cap={usage.monthly} label={`${name}, this month`} />,
  },
  { id: 'limits', title: 'Other limits', render: OtherLimits },
];

/** Lists the clients, their permissions and their spending. */
export default function ClientsPage() {
  const clients = api.useQuery('get', '/v1/clients');
  const accounts = useAccounts();
  const [, navigate] = useLocation();
  const [creating, setCreating] = useState(false);
  const [key, setKey] = useState<{ client: string; key: string; waits: boolean }>();
  return (
    <Page
      title="Clients"
      lead="Apps that pay through the proxy, and people who audit, reconcile, approve, or administer."
      actions={
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          New client
        </Button>
      }
    >
      <UnknownAccounts of={accounts} />
      <DataTable
        label="Clients"
        columns={accounts.length > 1 ? [NAME, ACCOUNT, ...COLUMNS] : [NAME, ...COLUMNS]}
        rows={clients.data?.clients}
        keyOf={({ id }) => id}
        error={clients.error}
        retry={clients.refetch}
        empty="There are no clients yet. Create one with New client."
      />
      <UpstreamFees />
      {creating && (
        <CreateClient
          close={() => setCreating(false)}
          created={({ client, key: secret, waits }) => {
            setCreating(false);
            if (secret !== undefined) setKey({ client, key: secret, waits });
            else if (!waits) navigate(`/clients/${client}`);
          }}
        />
      )}
      {key && (
        <NewKeyDialog
          of={key}
          close={() => (key.waits ? setKey(undefined) : navigate(`/clients/${key.client}`))}
        />
      )}
    </Page>
  );
}

/** Warns about clients that cannot pay, because this instance does not know their account. */
function UnknownAccounts({ of }: { of: AccountDto[] }) {
  const names = of.filter(({ configured }) => !configured).map(({ name }) => name);
  if (names.length === 0) return null;
  return (
    <Alert color="orange" variant="light" title="Some clients cannot pay">
      This instance does not know the upstream account of these clients: {names.join(', ')}. Add it to
      UPSTREAM_ACCOUNTS.
    </Alert>
  );
}

function Name({ name }: ClientDto) {
  return (
    <Anchor component={Link} href={`/clients/${name}`} size="sm" fw={600} style={{ whiteSpace: 'nowrap' }}>
      {name}
    </Anchor>
  );
}

function Scopes({ scopes }: ClientDto) {
  return (
    <Group gap={4} miw={150}>
      {scopes.map((scope) => (
        <WordBadge key={scope} color={scope === 'admin' ? 'orange' : 'gray'}>
          {scope}
        </WordBadge>
      ))}
    </Group>
  );
}

/** Caps have their own columns. */
const HAVE_COLUMNS = new Set(['scopes', 'daily_cap_usd', 'monthly_cap_usd']);

function OtherLimits(client: ClientDto) {
  const draft = draftOf(client);
  const set = (Object.keys(changesOf(draft, NO_LIMITS)) as (keyof typeof draft)[]).filter(
    (name) => !HAVE_COLUMNS.has(name),
  );
  return (
    <Text size="sm" miw={180} lineClamp={3} c={set.length === 0 ? 'dimmed' : 'inherit'}>
      {set.length === 0
        ? 'none'
        : set.map((name) => `${LABELS[name]}: ${limitInWords(name, draft[name])}`).join('; ')}
    </Text>
  );
}
