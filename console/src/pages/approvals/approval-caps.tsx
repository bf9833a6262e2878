import { Alert, Text } from '@mantine/core';
import type { CapAfterDto, CapsAfterDto } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Instant, Usd } from '../../components/values/values';

interface Row extends CapAfterDto {
  period: string;
}

const COLUMNS: Column<Row>[] = [
  { id: 'period', title: 'Cap', render: ({ period }) => period },
  {
    id: 'cap',
    title: 'Limit',
    numeric: true,
    render: ({ cap_usd: cap }) => (cap === null ? 'no cap' : <Usd amount={cap} />),
  },
  {
    id: 'spent',
    title: 'Spent now',
    numeric: true,
    render: ({ spent_usd: spent }) => <Usd amount={spent} />,
  },
  { id: 'after', title: 'Spent after', numeric: true, render: After },
  {
    id: 'left',
    title: 'Left after',
    numeric: true,
    render: ({ left_after_usd: left }) => <Usd amount={left} />,
  },
  { id: 'resets', title: 'Resets', render: ({ resets_at: at }) => <Instant at={at} relative /> },
];

/** Shows the effect of an approval on the caps of the client, its person and its ephemeral key. */
export function ApprovalCaps({ caps }: { caps: CapsAfterDto }) {
  const ofPayers: [string, CapAfterDto | null][] = [
    ['Person, today (UTC)', caps.person_daily],
    ['Person, this month (UTC)', caps.person_monthly],
    ['Ephemeral key', caps.ephemeral_key],
  ];
  const rows = [
    { ...caps.daily, period: 'Client, today (UTC)' },
    { ...caps.monthly, period: 'Client, this month (UTC)' },
    ...ofPayers.flatMap(([period, cap]) => (cap?.cap_usd ? [{ ...cap, period }] : [])),
  ];
  return (
    <>
      {!caps.fits && (
        <Alert color="red" variant="light" title="Cap exceeded">
          This call exceeds a cap, so you cannot approve it now. Raise the cap, or wait until it resets.
        </Alert>
      )}
      <DataTable
        label="Caps before and after"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ period }) => period}
        empty=""
      />
    </>
  );
}

function After({ cap_usd: cap, after_usd: after }: Row) {
  // The numbers are only compared. Amounts of a cap's size fit in a double.
  const isOver = cap !== null && Number(after) > Number(cap);
  return (
    <>
      <Usd amount={after} />
      {isOver && (
        <Text span c="red" inherit fw={600}>
          {' '}
          over
        </Text>
      )}
    </>
  );
}
