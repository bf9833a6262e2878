import { Anchor, Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { api, http } from '../../../api/client';
import {
  type BeneficiaryDto,
  type paths,
  beneficiaryDtoListValues as LISTS,
} from '../../../api/generated/schema';
import { ReasonDialog } from '../../../components/forms/reason-dialog';
import { useAddress } from '../../../components/lists/address';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Choice } from '../../../components/lists/filter-inputs';
import { Pager } from '../../../components/lists/pager';
import { Page } from '../../../components/page/page';
import { WordBadge } from '../../../components/values/badges';
import { Instant } from '../../../components/values/values';
import { notifyPendingChange } from '../pending-change';
import { reloadClients } from '../reload-clients';
import { AddBeneficiaries } from './add-beneficiaries';

type Query = NonNullable<paths['/v1/clients/{name}/beneficiaries']['get']['parameters']['query']>;

const NAMES = ['list'] as const;

const COLUMNS: Column<BeneficiaryDto>[] = [
  { id: 'recipient', title: 'Recipient', render: ({ recipient }) => recipientWords(recipient) },
  {
    id: 'list',
    title: 'List',
    render: ({ list }) => <WordBadge color={list === 'allowed' ? 'teal' : 'red'}>{list}</WordBadge>,
  },
  { id: 'registered', title: 'Registered', render: ({ registered_at: at }) => <Instant at={at} /> },
];

/** Names a recipient. An erased one stays on its list. */
const recipientWords = (recipient: string | null) => recipient ?? 'erased';

/** Lists the allowed and the blocked recipients of a client. */
export default function BeneficiariesPage() {
  const { name = '' } = useParams();
  const { values, change, page } = useAddress(NAMES);
  const query = { ...values, ...page } as Query;
  const init = { params: { path: { name }, query } };
  const { data, error, refetch } = api.useQuery('get', '/v1/clients/{name}/beneficiaries', init);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<BeneficiaryDto>();
  const actions: Column<BeneficiaryDto> = {
    id: 'actions',
    title: 'Remove',
    render: (one) => <Remove of={one} remove={() => setRemoving(one)} />,
  };
  return (
    <Page
      title="Register of recipients"
      lead={<Rules client={name} />}
      actions={
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
          Add recipients
        </Button>
      }
    >
      <Bar client={name} list={values.list} choose={(list) => change({ list })} />
      <Text size="sm" c="dimmed" maw="70ch">
        Recipients are stored as hashes and masks, and cannot be read here. Keep your own list.
      </Text>
      <DataTable
        label="Recipients"
        columns={[...COLUMNS, actions]}
        rows={data?.beneficiaries}
        keyOf={({ id }) => id}
        error={error}
        retry={refetch}
        empty={
          values.list === undefined ? 'No recipients are registered yet.' : 'This list has no recipients.'
        }
      />
      <Pager next={data?.next_page_token} />
      {adding && <AddBeneficiaries client={name} close={() => setAdding(false)} />}
      {removing && (
        <RemoveBeneficiary
          client={name}
          of={removing}
          who={recipientWords(removing.recipient)}
          close={() => setRemoving(undefined)}
        />
      )}
    </Page>
  );
}

interface BarProps {
  client: string;
  list: string | undefined;
  choose: (list: string) => void;
}

/** Selects a list and links to related pages. */
function Bar({ client, list, choose }: BarProps) {
  const others = LISTS.map((value) => ({ value, label: value }));
  return (
    <Group justify="space-between" align="flex-end">
      <Choice label="List" value={list} choose={choose} all="Both lists" others={others} />
      <Group>
        <Anchor component={Link} href={`/clients/${client}`} size="sm">
          Client {client}
        </Anchor>
        <Anchor component={Link} href={`/activity?client=${client}`} size="sm">
          Change history
        </Anchor>
      </Group>
    </Group>
  );
}

/** Explains the register under the current limits of the client. */
function Rules({ client }: { client: string }) {
  const { data } = api.useQuery('get', '/v1/clients/{name}', { params: { path: { name: client } } });
  if (data === undefined) return client;
  const pays = data.beneficiaries_only
    ? 'pays only allowed recipients'
    : 'may pay everyone except blocked recipients';
  return `${client} ${pays}. A recipient on both lists is blocked.`;
}

function Remove({ of: { recipient, list }, remove }: { of: BeneficiaryDto; remove: () => void }) {
  return (
    <Button
      size="compact-xs"
      variant="default"
      onClick={remove}
      aria-label={`Remove ${recipientWords(recipient)} from ${list}`}
    >
      Remove
    </Button>
  );
}

interface Props {
  client: string;
  of: BeneficiaryDto;
  /** Masked recipient. */
  who: string;
  close: () => void;
}

/** Asks for a reason, and explains the effect of the removal. */
function RemoveBeneficiary({ client, of: { id, list }, who, close }: Props) {
  const queries = useQueryClient();
  const run = async (reason: string) => {
    const body = { list, remove: [id], reason };
    const { data } = await http.POST('/v1/clients/{name}/beneficiaries', {
      params: { path: { name: client } },
      body,
    });
    reloadClients(queries);
    if (data && !notifyPendingChange(data))
      notifications.show({ message: `${who} is no longer ${list}.`, color: 'teal' });
  };
  return (
    <ReasonDialog title="Remove a recipient" action="Remove" run={run} close={close}>
      <Text size="sm">
        {list === 'allowed'
          ? `${who} is no longer allowed for ${client}. If the client pays only registered recipients, ` +
            'it can no longer pay them.'
          : `${who} is no longer blocked for ${client}. The client may then pay them.`}
      </Text>
    </ReasonDialog>
  );
}
