import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { CallRecord, ItemRecord, RecordRecipient } from '../../api/generated/schema';
import { OutcomeBadge } from '../../components/values/badges';
import { Copyable } from '../../components/values/copyable';
import { clientWords, formatCount, inWords } from '../../components/values/format';
import { Requester } from '../../components/values/requester';
import { Instant, Maybe, Operation, Usd } from '../../components/values/values';
import type { OptionalColumn } from './list';

/** Fields that calls and payouts share. */
type CallFields = Omit<ItemRecord, 'item'>;

const text = <Row,>(
  id: string,
  title: string,
  of: (row: Row) => string | number | null | undefined,
  usual = false,
): OptionalColumn<Row> => ({ id, title, usual, render: (row) => <Short text={of(row)} /> });

const time: OptionalColumn<CallFields> = {
  id: 'time',
  title: 'Time',
  usual: true,
  render: ({ id, timings }) => (
    <Anchor component={Link} href={`/calls/${id}`} inherit>
      <Instant at={timings.received_at} />
    </Anchor>
  ),
};
const operation: OptionalColumn<CallFields> = {
  id: 'operation',
  title: 'Operation',
  usual: true,
  render: ({ operation: name }) => <Operation name={name} />,
};
const client = text<CallFields>('client', 'Client', (row) => clientWords(row.client, row.account), true);
const outcome: OptionalColumn<CallFields> = {
  id: 'outcome',
  title: 'Outcome',
  usual: true,
  render: ({ outcome: word }) => <OutcomeBadge outcome={word} />,
};
const latency: OptionalColumn<CallFields> = {
  id: 'latency',
  title: 'Latency',
  usual: true,
  numeric: true,
  render: ({ timings: { upstream_ms: ms } }) => (
    <Maybe text={ms === null ? null : `${formatCount(Math.round(ms))} ms`} />
  ),
};
const callId: OptionalColumn<CallFields> = {
  id: 'id',
  title: 'ID',
  usual: true,
  render: ({ id }) => <Copyable text={id} label="the call's ID" shown={`…${id.slice(-12)}`} />,
};

/** Columns about the request and the response. */
const DETAILS: OptionalColumn<CallFields>[] = [
  { id: 'actor', title: 'Person', usual: false, render: (row) => <Requester of={row} /> },
  text('account', 'Account', ({ account }) => account),
  text('key', 'Key', ({ key_id: key }) => key),
  text('address', 'Address', ({ client_address: address }) => address),
  text('idempotency_key', 'Idempotency-Key', ({ idempotency_key: key }) => key),
  text('request_id', 'X-Request-Id', ({ request_id: id }) => id),
  text('status', 'Upstream status', ({ upstream }) => upstream?.status ?? upstream?.failure),
  text('refusal', 'Refusal reason', ({ refusal }) => refusal && inWords(refusal.code)),
  text('approval', 'Approval', ({ approval }) => approval?.status),
  text('resolution', 'Resolution', ({ resolution }) => resolution?.outcome),
];

const usd = <Row,>(
  id: string,
  title: string,
  usual: boolean,
  of: (row: Row) => string | null | undefined,
) => ({
  id,
  title,
  usual,
  numeric: true,
  render: (row: Row) => <Usd amount={of(row)} />,
});

export const CALL_COLUMNS: OptionalColumn<CallRecord>[] = [
  time,
  operation,
  client,
  outcome,
  {
    id: 'items',
    title: 'Payouts',
    usual: true,
    numeric: true,
    render: ({ item_count: count }) => formatCount(count),
  },
  usd('total', 'Total', true, ({ total_usd: total }) => total),
  {
    id: 'recipient',
    title: 'Recipients',
    usual: true,
    render: ({ items: [first], item_count: count }) => <Recipients first={first?.recipient} count={count} />,
  },
  {
    id: 'reference',
    title: 'Reference',
    usual: true,
    render: ({ items }) => <Short text={items.find(({ reference }) => reference !== null)?.reference} />,
  },
  latency,
  callId,
  ...DETAILS,
];

export const PAYOUT_COLUMNS: OptionalColumn<ItemRecord>[] = [
  time,
  operation,
  client,
  outcome,
  {
    id: 'recipient',
    title: 'Recipient',
    usual: true,
    render: ({ item }) => <Recipients first={item.recipient} />,
  },
  text('country', 'Country', ({ item }) => item.country, true),
  usd('amount', 'Amount', true, ({ item }) => item.amount_usd),
  text('reference', 'Reference', ({ item }) => item.reference, true),
  latency,
  callId,
  text('network', 'Network', ({ item }) => item.network_code),
  text('wallet', 'Wallet', ({ item }) => item.wallet),
  text('upstream_ref', 'Upstream reference', ({ item }) => item.upstream?.upstream_ref ?? item.upstream_ref),
  text('upstream_id', 'Upstream id', ({ item }) => item.upstream?.upstream_id),
  text('upstream_word', 'Transaction status', ({ item }) => item.upstream?.status),
  usd('upstream_amount', 'Upstream amount', false, ({ item }) => item.upstream?.amount_usd),
  text('differs', 'Differs', ({ item }) => item.upstream?.differs.join(', ')),
  text('payout_status', "Telco's status", ({ item }) => item.upstream?.payout_status),
  text('payout_error', "Telco's error", ({ item }) => item.upstream?.payout_error),
  text('position', 'Position in call', ({ item }) => item.position + 1),
  ...DETAILS,
];

function Recipients({ first, count = 1 }: { first: RecordRecipient | undefined; count?: number }) {
  const who = first && (first.email ?? first.phone ?? first.handle ?? first.receiver);
  return (
    <>
      <Short text={who} />
      {count > 1 && (
        <Text span inherit c="dimmed">
          {` +${formatCount(count - 1)}`}
        </Text>
      )}
    </>
  );
}

/** Shows a value on one line. The full value is on the page of the call, and in the tooltip. */
function Short({ text: whole }: { text: string | number | null | undefined }) {
  if (typeof whole !== 'string' || whole.length <= 32) return <Maybe text={whole} />;
  return <span title={whole}>{`${whole.slice(0, 31)}…`}</span>;
}
