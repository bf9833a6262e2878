import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import type { DoubtRecord, TotalsRecord } from '../../../api/generated/schema';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Section } from '../../../components/page/section';
import { formatCount, formatUsd, inWords } from '../../../components/values/format';
import { Instant, Maybe } from '../../../components/values/values';

type DoubtTotals = Pick<TotalsRecord, 'in_doubt' | 'pending' | 'ambiguous' | 'doubts'>;

const COLUMNS: Column<DoubtRecord>[] = [
  { id: 'at', title: 'Time', render: ({ at }) => <Instant at={at} /> },
  { id: 'kind', title: 'Doubt', render: ({ kind }) => inWords(kind) },
  {
    id: 'about',
    title: 'Call or transaction',
    render: ({ call_id: call, operation, upstream_ref: ref }) =>
      call === null ? (
        <Maybe text={ref} />
      ) : (
        <Anchor component={Link} href={`/calls/${call}`} size="sm">
          {operation ?? call}
        </Anchor>
      ),
  },
  { id: 'status', title: "Upstream's status", render: ({ status }) => <Maybe text={status} /> },
  {
    id: 'usd',
    title: 'Amount',
    numeric: true,
    render: ({ usd }) => (usd === null ? <Maybe text={null} /> : formatUsd(usd)),
  },
];

/** Shows the calls and transactions of the period that may still change. */
export function Doubts({ totals }: { totals: DoubtTotals }) {
  const { doubts } = totals;
  if (doubts.length === 0) return null;
  return (
    <Section title="In doubt" lead={`${doubtsInWords(totals)}. Run the period again once they are settled.`}>
      <DataTable
        label="In doubt"
        columns={COLUMNS}
        rows={doubts}
        keyOf={(doubt) => JSON.stringify(doubt)}
        empty="Nothing is in doubt."
      />
    </Section>
  );
}

/** Counts the doubts by kind, such as "1 in doubt, 2 pending". */
export function doubtsInWords({ in_doubt: doubt, pending, ambiguous }: DoubtTotals): string {
  const counts = { 'in doubt': doubt, pending, ambiguous };
  return Object.entries(counts)
    .filter(([, { count }]) => count > 0)
    .map(([kind, { count }]) => `${formatCount(count)} ${kind}`)
    .join(', ');
}
