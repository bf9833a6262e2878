import { Box, Button, Group, Text } from '@mantine/core';
import { Sigma } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client';
import type { paths, SummaryGroup } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Answer } from '../../components/page/states';
import { OutcomeBadge } from '../../components/values/badges';
import { formatCount } from '../../components/values/format';
import { Usd } from '../../components/values/values';
import type { List } from './list';

type SummaryQuery = NonNullable<paths['/v1/audit/summary']['get']['parameters']['query']>;
type Outcome = NonNullable<SummaryQuery['outcome']>;

const COLUMNS: Column<SummaryGroup>[] = [
  {
    id: 'outcome',
    title: 'Outcome',
    render: ({ group }) => (group === null ? <b>All</b> : <OutcomeBadge outcome={group as Outcome} />),
  },
  { id: 'calls', title: 'Calls', numeric: true, render: ({ calls }) => formatCount(calls) },
  { id: 'items', title: 'Payouts', numeric: true, render: ({ items }) => formatCount(items) },
  { id: 'asked', title: 'Requested', numeric: true, render: ({ asked_usd: usd }) => <Usd amount={usd} /> },
  { id: 'paid', title: 'Paid', numeric: true, render: ({ paid_usd: usd }) => <Usd amount={usd} /> },
  { id: 'pending', title: 'Pending', numeric: true, render: ({ pending_usd: usd }) => <Usd amount={usd} /> },
  {
    id: 'returned',
    title: 'Returned',
    numeric: true,
    render: ({ returned_usd: usd }) => <Usd amount={usd} />,
  },
  {
    id: 'not_executed',
    title: 'Not executed',
    numeric: true,
    render: ({ not_executed_usd: usd }) => <Usd amount={usd} />,
  },
  { id: 'fees', title: 'Fees', numeric: true, render: ({ fees_usd: usd }) => <Usd amount={usd} /> },
];

/** Counts all results of the filters. It reads all of them, so it runs only on request. */
export function SumUp({ list: { filters } }: { list: List }) {
  const [isRequested, setRequested] = useState(false);
  const query = { ...filters, group_by: 'outcome' } as SummaryQuery;
  const answer = api.useQuery('get', '/v1/audit/summary', { params: { query } }, { enabled: isRequested });
  if (!isRequested) {
    return (
      <Group gap="sm">
        <Button
          variant="default"
          size="xs"
          leftSection={<Sigma size={14} aria-hidden />}
          onClick={() => setRequested(true)}
        >
          Sum up
        </Button>
        <Text size="sm" c="dimmed">
          Counts all results of the filters, by outcome. For a long history, this can take several seconds.
        </Text>
      </Group>
    );
  }
  return (
    <Box maw={960}>
      <Button variant="subtle" size="compact-sm" onClick={() => setRequested(false)}>
        Hide the sums
      </Button>
      <Answer of={answer} lines={3}>
        {({ groups }) => (
          <DataTable
            label="Sums"
            columns={COLUMNS}
            rows={withAll(groups)}
            keyOf={({ group }) => group ?? ''}
            empty="No results to sum up."
          />
        )}
      </Answer>
    </Box>
  );
}

function withAll(groups: SummaryGroup[]): SummaryGroup[] {
  const [first] = groups;
  if (!first || groups.length === 1) return groups;
  const all: SummaryGroup = {
    ...first,
    group: null,
    calls: groups.reduce((sum, { calls }) => sum + calls, 0),
    items: groups.reduce((sum, { items }) => sum + items, 0),
    asked_usd: sumOf(groups.map(({ asked_usd: usd }) => usd)),
    paid_usd: sumOf(groups.map(({ paid_usd: usd }) => usd)),
    pending_usd: sumOf(groups.map(({ pending_usd: usd }) => usd)),
    returned_usd: sumOf(groups.map(({ returned_usd: usd }) => usd)),
    not_executed_usd: sumOf(groups.map(({ not_executed_usd: usd }) => usd)),
    fees_usd: sumOf(groups.map(({ fees_usd: usd }) => usd)),
  };
  return [...groups, all];
}

/** Returns the exact sum of amounts, in units of the smallest decimal. No amount is negative. */
function sumOf(amounts: string[]): string {
  const decimals = Math.max(0, ...amounts.map((amount) => (amount.split('.')[1] ?? '').length));
  const whole = (amount: string) => {
    const [units = '0', rest = ''] = amount.split('.');
    return BigInt(units + rest.padEnd(decimals, '0'));
  };
  const digits = amounts.reduce((sum, amount) => sum + whole(amount), 0n).toString();
  if (decimals === 0) return digits;
  const padded = digits.padStart(decimals + 1, '0');
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
}
