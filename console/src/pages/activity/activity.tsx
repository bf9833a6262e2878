import { Button, Group, Text } from '@mantine/core';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client';
import {
  activityRecordActionValues as ACTIONS,
  activityRecordViaValues as CHANNELS,
  type paths,
} from '../../api/generated/schema';
import { messageOf } from '../../api/problem';
import { save } from '../../api/save';
import { useAddress } from '../../components/lists/address';
import { DataTable } from '../../components/lists/data-table';
import { Choice, Entry } from '../../components/lists/filter-inputs';
import { Pager } from '../../components/lists/pager';
import { Page } from '../../components/page/page';
import { inWords } from '../../components/values/format';
import { CHANNEL_WORDS } from '../../words/activity';
import { COLUMNS } from './columns';

type Query = NonNullable<paths['/v1/activity']['get']['parameters']['query']>;

/** Filters of the API. */
const FILTERS = ['action', 'client', 'by', 'actor', 'via', 'from', 'to'] as const;

/** Lists the changes that administrators made. */
export default function ActivityPage() {
  const { values, change, page } = useAddress(FILTERS);
  const query = { ...values, ...page } as Query;
  const { data, error, refetch } = api.useQuery('get', '/v1/activity', { params: { query } });
  const isFiltered = Object.keys(values).length > 0;
  return (
    <Page
      title="Activity"
      lead={
        'Every change of clients, keys, limits, stops and the configuration, with its author. The ' +
        'records are sealed in the log.'
      }
      actions={<ExportButton filters={values} />}
    >
      <Filters values={values} change={change} />
      <DataTable
        label="Activity"
        columns={COLUMNS}
        rows={data?.activity}
        keyOf={({ id, action }) => `${action} ${id}`}
        error={error}
        retry={refetch}
        empty={
          isFiltered ? 'No activity matches. Change or clear the filters.' : 'Nothing has been changed yet.'
        }
      />
      <Pager next={data?.next_page_token} />
    </Page>
  );
}

type FilterProps = Pick<ReturnType<typeof useAddress<(typeof FILTERS)[number]>>, 'values' | 'change'>;

function Filters({ values, change }: FilterProps) {
  const none = Object.fromEntries(Object.keys(values).map((name) => [name, undefined]));
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label="Filters">
      <Choice
        label="Action"
        value={values.action}
        choose={(action) => change({ action })}
        all="All actions"
        others={ACTIONS.map((value) => ({ value, label: inWords(value) }))}
      />
      <Choice
        label="Channel"
        value={values.via}
        choose={(via) => change({ via })}
        all="All channels"
        others={CHANNELS.map((value) => ({ value, label: CHANNEL_WORDS[value] }))}
      />
      {(
        [
          ['client', 'Changed client', 'Name or ID'],
          ['by', 'By client', 'Name or ID'],
          ['actor', 'By person', 'ID'],
        ] as const
      ).map(([name, label, placeholder]) => (
        <Entry
          key={`${name} ${values[name]}`}
          label={label}
          placeholder={placeholder}
          value={values[name]}
          enter={(text) => change({ [name]: text })}
        />
      ))}
      {Object.keys(values).length > 0 && (
        <Button variant="subtle" size="sm" onClick={() => change(none)}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** Saves all actions that match the filters, not only this page, as CSV. */
function ExportButton({ filters }: { filters: Record<string, string> }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const keep = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      await save(`/v1/activity.csv?${new URLSearchParams(filters).toString()}`, 'payout-proxy-activity.csv');
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {failure !== undefined && (
        <Text size="sm" c="red" role="alert">
          {messageOf(failure)}
        </Text>
      )}
      <Button
        variant="default"
        size="xs"
        leftSection={<Download size={14} aria-hidden />}
        loading={busy}
        onClick={() => void keep()}
      >
        Export
      </Button>
    </>
  );
}
