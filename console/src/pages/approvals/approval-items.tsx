import { Button } from '@mantine/core';
import { useState } from 'react';
import type { RecordItem } from '../../api/generated/schema';
import { type Column, DataTable } from '../../components/lists/data-table';
import { formatCount } from '../../components/values/format';
import { Maybe, Usd } from '../../components/values/values';
import { recipientOf } from './summary';

/** Number of items shown at first. A batch may have thousands. */
const FIRST = 50;

const COLUMNS: Column<RecordItem>[] = [
  { id: 'position', title: '#', numeric: true, render: ({ position }) => position + 1 },
  { id: 'recipient', title: 'Recipient', render: (item) => <Maybe text={recipientOf(item)} /> },
  { id: 'country', title: 'Country', render: ({ country }) => <Maybe text={country} /> },
  { id: 'network', title: 'Network', render: ({ network_code: code }) => <Maybe text={code} /> },
  { id: 'reference', title: 'Reference', render: ({ reference }) => <Maybe text={reference} /> },
  { id: 'amount', title: 'Amount', numeric: true, render: ({ amount_usd: usd }) => <Usd amount={usd} /> },
];

/** Returns the columns that have a value for some item. */
const columnsFor = (items: RecordItem[]) =>
  COLUMNS.filter(
    ({ id }) =>
      (id !== 'network' || items.some((item) => item.network_code !== null)) &&
      (id !== 'reference' || items.some((item) => item.reference !== null)),
  );

export function ApprovalItems({ items }: { items: RecordItem[] }) {
  const [all, setAll] = useState(false);
  return (
    <>
      <DataTable
        label="Payouts"
        columns={columnsFor(items)}
        rows={all ? items : items.slice(0, FIRST)}
        keyOf={({ position }) => String(position)}
        empty="This request has no individual payouts."
      />
      {!all && items.length > FIRST && (
        <Button variant="default" size="xs" onClick={() => setAll(true)}>
          Show all {formatCount(items.length)}
        </Button>
      )}
    </>
  );
}
