import { Anchor, Group, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import { Link } from 'wouter';
import { api } from '../../../api/client';
import type { Report, ReportAge, RunRecord, TotalsRecord } from '../../../api/generated/schema';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Section } from '../../../components/page/section';
import { Failure } from '../../../components/page/states';
import { formatCount, inWords } from '../../../components/values/format';
import { Usd } from '../../../components/values/values';
import { signedUsd } from '../amounts';
import { StateBadge } from '../badges';
import { AGES, linkToFindings } from '../findings/findings-query';
import type { Bar } from './bars';

const Bars = lazy(() => import('./bars'));

/** Shows the findings by category, and the open findings by age. */
export function Breakdown({ run, totals }: { run: RunRecord; totals: TotalsRecord }) {
  const params = { path: { id: run.id }, query: { findings: 'none' as const } };
  const { data, error, refetch } = api.useQuery('get', '/v1/reconciliation/runs/{id}/report', { params });
  const report = data as Report | undefined;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <ByCategory run={run} totals={totals} states={report?.states} />
      {error && !report ? <Failure error={error} retry={refetch} /> : <ByAge ages={report?.ageing} />}
    </SimpleGrid>
  );
}

interface CategoryRow {
  category: string;
  count: number;
  usd: string;
}

function ByCategory({
  run,
  totals,
  states,
}: {
  run: RunRecord;
  totals: TotalsRecord;
  states: Report['states'] | undefined;
}) {
  const rows = Object.entries(totals.findings.by_category).map(([category, sum]) => ({ category, ...sum }));
  const columns: Column<CategoryRow>[] = [
    {
      id: 'category',
      title: 'Category',
      render: ({ category }) => (
        <Anchor component={Link} href={linkToFindings({ run_id: run.id, category, state: 'any' })} size="sm">
          {inWords(category)}
        </Anchor>
      ),
    },
    { id: 'count', title: 'Findings', numeric: true, render: ({ count }) => formatCount(count) },
    { id: 'usd', title: 'Total', numeric: true, render: ({ usd }) => signedUsd(usd) },
  ];
  return (
    <Charted
      title="Findings by category"
      bars={rows.map(({ category, count }) => ({ name: inWords(category), findings: count }))}
    >
      {states && <States states={states} runId={run.id} />}
      <DataTable
        label="Findings by category"
        columns={columns}
        rows={rows}
        keyOf={({ category }) => category}
        empty="This run found no differences."
      />
    </Charted>
  );
}

function States({ states, runId }: { states: Report['states']; runId: string }) {
  return (
    <Group gap="xs">
      <Text size="sm">Current states:</Text>
      {Object.entries(states).map(([state, count]) => (
        <Anchor
          key={state}
          component={Link}
          href={linkToFindings({ run_id: runId, state })}
          size="sm"
          c="inherit"
          aria-label={`${count} ${state}`}
        >
          <Group gap={4}>
            {formatCount(count)} <StateBadge state={state as 'open'} />
          </Group>
        </Anchor>
      ))}
    </Group>
  );
}

function ByAge({ ages }: { ages: ReportAge[] | undefined }) {
  const columns: Column<ReportAge>[] = [
    {
      id: 'age',
      title: 'Days',
      render: ({ days }) => {
        const age = AGES.find(({ name }) => name === days);
        return (
          <Anchor component={Link} href={linkToFindings(age?.filter ?? {})} size="sm">
            {age?.label ?? days}
          </Anchor>
        );
      },
    },
    { id: 'count', title: 'Findings', numeric: true, render: ({ count }) => formatCount(count) },
    { id: 'usd', title: 'Absolute total', numeric: true, render: ({ usd }) => <Usd amount={usd} /> },
  ];
  return (
    <Charted
      title="Open findings by age"
      bars={ages?.map(({ days, count }) => ({ name: days, findings: count })) ?? []}
    >
      <Text size="sm" c="dimmed">
        Open and reopened findings of all runs, by days since they were found.
      </Text>
      <DataTable
        label="Findings by age"
        columns={columns}
        rows={ages}
        keyOf={({ days }) => days}
        empty="No open findings."
      />
    </Charted>
  );
}

function Charted({ title, bars, children }: { title: string; bars: Bar[]; children: ReactNode }) {
  return (
    <Section title={title}>
      {bars.some(({ findings }) => findings > 0) && (
        <Suspense fallback={<Skeleton h={40 + 28 * bars.length} />}>
          <Bars bars={bars} title={title} />
        </Suspense>
      )}
      {children}
    </Section>
  );
}
