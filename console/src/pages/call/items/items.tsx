import { Pagination, Text } from '@mantine/core';
import { useState } from 'react';
import type { CallTimeline, RecordItem, RecordUpstreamItem } from '../../../api/generated/schema';
import { type Column, DataTable } from '../../../components/lists/data-table';
import { Section } from '../../../components/page/section';
import { Copyable } from '../../../components/values/copyable';
import { formatCount } from '../../../components/values/format';
import { Maybe, Usd } from '../../../components/values/values';
import { Ledger, PayoutState } from './ledger';

const PER_PAGE = 100;

/** Shows the recipients and amounts, each with its transaction at the upstream. */
export function Items({ timeline }: { timeline: CallTimeline }) {
  const [page, setPage] = useState(1);
  const [opened, setOpened] = useState<readonly number[]>([]);
  const { items, upstream } = timeline;
  const others = upstream?.other_items ?? [];
  const pages = Math.ceil(items.length / PER_PAGE);
  if (items.length === 0 && others.length === 0) return null;
  return (
    <>
      <Section title={`Items (${formatCount(items.length)})`}>
        <DataTable
          label="Items"
          columns={columnsOf(items, opened, (position) => setOpened(toggled(opened, position)))}
          rows={items.slice((page - 1) * PER_PAGE, page * PER_PAGE)}
          keyOf={({ position }) => String(position)}
          detailOf={(item) =>
            opened.includes(item.position) ? <Ledger timeline={timeline} item={item} /> : undefined
          }
          empty="This call has no items."
        />
        {pages > 1 && (
          <Pagination
            size="sm"
            total={pages}
            value={page}
            onChange={setPage}
            aria-label="Pages of items"
            getControlProps={(control) => ({ 'aria-label': `${control} page of items` })}
            getItemProps={(number) => ({ 'aria-label': `Page ${number} of items` })}
          />
        )}
      </Section>
      {others.length > 0 && (
        <Section
          title={`Other transactions (${formatCount(others.length)})`}
          lead="The upstream also returned these transactions. It is not certain which items they belong to."
        >
          <DataTable
            label="Other transactions"
            columns={[...UPSTREAM, DIFFERS]}
            rows={others}
            keyOf={(other) => `${others.indexOf(other)}`}
            empty="No other transactions."
          />
        </Section>
      )}
    </>
  );
}

const toggled = (positions: readonly number[], position: number) =>
  positions.includes(position) ? positions.filter((one) => one !== position) : [...positions, position];

/** Returns the columns that have a value for some item. */
function columnsOf(
  items: RecordItem[],
  opened: readonly number[],
  toggle: (position: number) => void,
): Column<RecordItem>[] {
  const has = (field: TextField | 'state' | 'fee_usd') => items.some((item) => item[field] !== null);
  return [
    { id: 'position', title: '#', numeric: true, render: ({ position }) => position + 1 },
    { id: 'recipient', title: 'Recipient', render: (item) => <Recipient item={item} /> },
    ...(has('country') ? [text('country', 'Country')] : []),
    ...(has('network_code') ? [text('network_code', 'Network')] : []),
    ...(has('reference') ? [text('reference', 'Reference')] : []),
    ...(has('wallet') ? [text('wallet', 'Wallet')] : []),
    ...(has('upstream_ref') ? [text('upstream_ref', 'Transaction')] : []),
    { id: 'amount', title: 'Amount', numeric: true, render: ({ amount_usd }) => <Usd amount={amount_usd} /> },
    ...(has('fee_usd') ? [FEE] : []),
    ...(has('state') ? [stateColumn(opened, toggle)] : []),
    ...[
      ...UPSTREAM,
      ...TELCO.filter(({ id }) => items.some(({ upstream }) => upstream && upstream[id] !== null)),
      ...(items.some(({ upstream }) => upstream && upstream.differs.length > 0) ? [DIFFERS] : []),
    ].map(({ render, ...column }) => ({
      ...column,
      render: ({ upstream }: RecordItem) => (upstream ? render(upstream) : <Maybe text={null} />),
    })),
  ];
}

const FEE: Column<RecordItem> = {
  id: 'fee',
  title: 'Fee',
  numeric: true,
  render: ({ fee_usd }) => <Usd amount={fee_usd} />,
};

const stateColumn = (opened: readonly number[], toggle: (position: number) => void): Column<RecordItem> => ({
  id: 'state',
  title: 'State',
  render: (item) => (
    <PayoutState item={item} opened={opened.includes(item.position)} toggle={() => toggle(item.position)} />
  ),
});

type TextField = 'country' | 'network_code' | 'reference' | 'wallet' | 'upstream_ref';

const text = (field: TextField, title: string) => ({
  id: field,
  title,
  render: (item: RecordItem) => <Maybe text={item[field]} />,
});

const UPSTREAM: Column<RecordUpstreamItem>[] = [
  { id: 'status', title: 'Upstream status', render: ({ status }) => <Maybe text={status} /> },
  {
    id: 'made_upstream_ref',
    title: 'Upstream reference',
    render: ({ upstream_ref }) => <Id text={upstream_ref} name="upstream reference" />,
  },
  {
    id: 'upstream_id',
    title: 'Upstream id',
    render: ({ upstream_id }) => <Id text={upstream_id} name="the upstream's ID" />,
  },
  {
    id: 'upstream_amount',
    title: 'Upstream amount',
    numeric: true,
    render: (one) => <Usd amount={one.amount_usd} />,
  },
];

/** Column of the properties in which a transaction differs from its item. Few do. */
const DIFFERS: Column<RecordUpstreamItem> = {
  id: 'differs',
  title: 'Differs in',
  render: ({ differs }) => <Maybe text={differs.join(', ') || null} />,
};

/** Columns of the telco's response, which the answer contains for some payouts. */
const TELCO: (Column<RecordUpstreamItem> & { id: 'payout_status' | 'payout_error' })[] = [
  {
    id: 'payout_status',
    title: "Telco's status",
    render: ({ payout_status }) => <Maybe text={payout_status} />,
  },
  { id: 'payout_error', title: "Telco's error", render: ({ payout_error }) => <Maybe text={payout_error} /> },
];

/** Number of characters that are enough to recognize an ID. Copying copies all of it. */
const SHOWN_OF_ID = 8;

function Id({ text, name }: { text: string | null; name: string }) {
  if (text === null) return <Maybe text={null} />;
  const shown = text.length > SHOWN_OF_ID + 4 ? `${text.slice(0, SHOWN_OF_ID)}…` : text;
  return (
    <div style={{ whiteSpace: 'nowrap' }}>
      <Copyable text={text} shown={shown} label={`${name} ${text}`} />
    </div>
  );
}

function Recipient({ item: { recipient, note } }: { item: RecordItem }) {
  const names = [recipient.email, recipient.phone, recipient.handle, recipient.receiver].filter(
    (name) => name !== null,
  );
  return (
    <>
      {names.map((name) => (
        <div key={name} style={{ whiteSpace: 'nowrap' }}>
          {name}
        </div>
      ))}
      {names.length === 0 && <Maybe text={null} />}
      {note !== null && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </>
  );
}
