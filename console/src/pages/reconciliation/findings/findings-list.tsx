import { Anchor, Stack, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useAccounts } from '../../../api/accounts';
import { api } from '../../../api/client';
import type { FindingRecord } from '../../../api/generated/schema';
import { useSession } from '../../../api/session';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Pager } from '../../../components/lists/pager';
import { Instant, Maybe } from '../../../components/values/values';
import { signedUsd } from '../amounts';
import { SeverityBadge, StateBadge } from '../badges';
import type { Conflicts } from './decide';
import { type Filters, toQuery } from './findings-query';
import { useSelection } from './selection';
import { SelectionBar } from './selection-bar';

interface Props {
  filters: Filters;
  page: { page_token?: string };
}

/** Lists findings to select and decide. */
export function FindingsList({ filters, page }: Props) {
  const { may } = useSession();
  const isOfSeveral = useAccounts().length > 1;
  const query = toQuery(filters, page);
  const { data, error, refetch } = api.useQuery('get', '/v1/reconciliation/findings', { params: { query } });
  const chosen = useSelection(data?.findings);
  const [conflicts, setConflicts] = useState<Conflicts>(new Map());
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Stack gap="xs">
      <SelectionBar
        chosen={chosen}
        filters={filters}
        more={data?.next_page_token !== null && data !== undefined}
        conflicts={conflicts}
        setConflicts={setConflicts}
      />
      <DataTable
        label="Findings"
        columns={columns(may('audit'), conflicts, isOfSeveral)}
        rows={data?.findings}
        keyOf={({ id }) => id}
        nameOf={({ title, subject }) => `${title}, ${subject}`}
        error={error}
        retry={refetch}
        empty={isFiltered ? 'No findings match. Change the filters, or clear them.' : <NothingWaits />}
        selection={{ chosen: chosen.ids, choose: chosen.choose }}
      />
      <Pager next={data?.next_page_token} />
    </Stack>
  );
}

/** Explains an empty list, which proves nothing before the first run. */
function NothingWaits() {
  const { data } = api.useQuery('get', '/v1/reconciliation/runs', { params: { query: { page_size: 1 } } });
  if (data?.runs.length === 0) return 'No reconciliation run yet. Start a run for yesterday.';
  return 'No findings need a decision. Start a run, or show findings in any state.';
}

const ACCOUNT: Column<FindingRecord> = { id: 'account', title: 'Account', render: ({ account }) => account };

const columns = (mayAudit: boolean, conflicts: Conflicts, isOfSeveral: boolean): Column<FindingRecord>[] => [
  { id: 'severity', title: 'Severity', render: (finding) => <SeverityBadge of={finding} /> },
  {
    id: 'finding',
    title: 'Difference',
    render: (finding) => <Difference finding={finding} conflicts={conflicts} />,
  },
  ...(isOfSeveral ? [ACCOUNT] : []),
  { id: 'fields', title: 'Ours | theirs', render: ({ fields }) => <Fields fields={fields} /> },
  { id: 'state', title: 'State', render: ({ state }) => <StateBadge state={state} /> },
  {
    id: 'impact',
    title: 'Impact',
    numeric: true,
    render: ({ impact_usd: usd }) => <span style={{ whiteSpace: 'nowrap' }}>{signedUsd(usd)}</span>,
  },
  { id: 'age', title: 'Days', numeric: true, render: ({ age_days: days }) => <Maybe text={days} /> },
  { id: 'paid', title: 'Paid', render: ({ occurred_at: at }) => <Instant at={at} /> },
  {
    id: 'call',
    title: 'Call',
    render: ({ call_id: id }) =>
      id !== null && mayAudit ? (
        <Anchor component={Link} href={`/calls/${id}`} size="sm" aria-label={`Call ${id}`}>
          {id.slice(-8)}
        </Anchor>
      ) : (
        <Maybe text={id?.slice(-8)} />
      ),
  },
];

function Difference({ finding, conflicts }: { finding: FindingRecord; conflicts: Conflicts }) {
  const { id, title, subject } = finding;
  const conflict = conflicts.get(id);
  return (
    <div style={{ minWidth: 180, maxWidth: 340 }}>
      <Anchor component={Link} href={`/reconciliation/findings/${id}`} size="sm">
        {title}
      </Anchor>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        {subject}
      </Text>
      {conflict !== undefined && (
        <Text size="xs" c="red">
          <TriangleAlert size={12} aria-hidden /> Not decided: {conflict}
        </Text>
      )}
    </div>
  );
}

function Fields({ fields }: Pick<FindingRecord, 'fields'>) {
  return fields.map(({ field, ours, theirs }) => (
    <Text key={field} size="xs" miw={150} maw={280} className="wrap-anywhere">
      {field}: <Maybe text={ours} /> | <Maybe text={theirs} />
    </Text>
  ));
}
