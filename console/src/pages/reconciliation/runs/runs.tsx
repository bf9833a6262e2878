import { Anchor, Button, Group, NativeSelect, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Play, Check, TriangleAlert } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { useAccounts } from '../../../api/accounts';
import { api } from '../../../api/client';
import { type paths, runResultValues as RESULTS, type RunRecord } from '../../../api/generated/schema';
import { useAddress } from '../../../components/lists/address';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Pager } from '../../../components/lists/pager';
import { Page } from '../../../components/page/page';
import { formatCount, inWords, formatUsd } from '../../../components/values/format';
import { Instant, Maybe, Usd } from '../../../components/values/values';
import { AccountFilter } from '../account-input';
import { isZero } from '../amounts';
import { Period, isUnderWay, ResultBadge } from '../badges';
import { ReconciliationNav } from '../nav';
import { StartedBy } from './run-facts';
import { RunProgress } from './run-progress';

const StartRun = lazy(() => import('./start-run'));

const FILTERS = ['account', 'result'] as const;
type Query = NonNullable<paths['/v1/reconciliation/runs']['get']['parameters']['query']>;

export default function RunsPage() {
  const { values, change, page } = useAddress(FILTERS);
  const [isStarting, { open, close }] = useDisclosure();
  const queries = useQueryClient();
  const isOfSeveral = useAccounts().length > 1;
  const again = () => void queries.invalidateQueries({ queryKey: ['get', '/v1/reconciliation/runs'] });
  const query = { ...(values as Query), ...page };
  const { data, error, refetch } = api.useQuery('get', '/v1/reconciliation/runs', { params: { query } });
  return (
    <Page
      title="Reconciliation"
      lead="A run compares our records of a period with the upstream and reports every difference."
      actions={
        <Button leftSection={<Play size={14} />} onClick={open}>
          Start a run
        </Button>
      }
    >
      <ReconciliationNav />
      <Group gap="xs" align="flex-end">
        <AccountFilter value={values.account} choose={(account) => change({ account })} />
        <NativeSelect
          label="Result"
          w={200}
          value={values.result ?? ''}
          onChange={({ currentTarget: { value } }) => change({ result: value })}
          data={[
            { value: '', label: 'All runs' },
            ...RESULTS.map((value) => ({ value, label: inWords(value) })),
          ]}
        />
      </Group>
      <DataTable
        label="Runs"
        columns={columns(again, isOfSeveral)}
        rows={data?.runs}
        keyOf={({ id }) => id}
        error={error}
        retry={refetch}
        empty={
          values.result || values.account
            ? 'No runs match. Change the filters.'
            : 'No runs yet. Start a run for yesterday.'
        }
      />
      <Pager next={data?.next_page_token} />
      {isStarting && (
        <Suspense>
          <StartRun close={close} />
        </Suspense>
      )}
    </Page>
  );
}

const ACCOUNT: Column<RunRecord> = { id: 'account', title: 'Account', render: ({ account }) => account };

const columns = (again: () => void, isOfSeveral: boolean): Column<RunRecord>[] => [
  {
    id: 'period',
    title: 'Period',
    render: ({ id, from, to }) => (
      <Anchor component={Link} href={`/reconciliation/runs/${id}`} size="sm">
        <Period from={from} to={to} />
      </Anchor>
    ),
  },
  ...(isOfSeveral ? [ACCOUNT] : []),
  {
    id: 'result',
    title: 'Result',
    render: (run) => (isUnderWay(run) ? <RunProgress run={run} onEnd={again} /> : <ResultBadge run={run} />),
  },
  {
    id: 'findings',
    title: 'Findings',
    numeric: true,
    render: ({ totals }) => <Maybe text={totals && formatCount(totals.findings.count)} />,
  },
  {
    id: 'ours',
    title: 'Our total',
    numeric: true,
    render: ({ totals }) => <Usd amount={totals?.ours.usd} />,
  },
  {
    id: 'theirs',
    title: "Upstream's total",
    numeric: true,
    render: ({ totals }) => <Usd amount={totals?.theirs.usd} />,
  },
  {
    id: 'residual',
    title: 'Residual',
    numeric: true,
    render: ({ totals }) => <Residual usd={totals?.residual_usd} />,
  },
  { id: 'started', title: 'Started', render: ({ started_at: at }) => <Instant at={at} /> },
  { id: 'by', title: 'By', render: (run) => <StartedBy run={run} /> },
];

/** Shows the unexplained residual, which must be zero. */
function Residual({ usd }: { usd: string | undefined }) {
  if (usd === undefined) return <Maybe text={null} />;
  const isRight = isZero(usd);
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end" c={isRight ? 'inherit' : 'red'}>
      {isRight ? (
        <Check size={14} aria-label="zero, as required" />
      ) : (
        <TriangleAlert size={14} aria-label="must be 0" />
      )}
      <Text span inherit fw={isRight ? 400 : 700} style={{ whiteSpace: 'nowrap' }}>
        {isRight ? '0' : formatUsd(usd)}
      </Text>
    </Group>
  );
}
