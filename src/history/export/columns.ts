import { Cell } from '../../http/answers/csv';
import { IntentDocument } from '../../journal/records/documents';
import { LATER_MEMBERS, REQUEST_MEMBERS } from '../../journal/records/request-members';
import { isUndelivered } from '../../journal/settlement/settled-by-upstream';
import { payoutStateOf } from '../../operations/lifecycle/settlement';
import { feeUsdOf, SUM_NAMES, SumName, sumNameOf } from '../../operations/lifecycle/sums';
import {
  maskContacts,
  maskEmail,
  maskHandle,
  maskKey,
  maskPhone,
  maskProse,
} from '../../platform/privacy/contacts';
import { canonicalCountry } from '../../recipients/country-name';
import { ExportedCall, ExportedItem } from './exported-call';

export interface Column<Row> {
  name: string;
  /** Returns the value. Undefined for a member without one. */
  of: (row: Row) => Cell | undefined;
  /** Masks the value for keys without permission to see people. */
  mask?: (value: string) => string;
}

/** A payout with its call. */
export type ItemRow = ExportedItem & { call: ExportedCall };

type Mask = Column<never>['mask'];

const column = <Row>(name: string, of: Column<Row>['of'], mask?: Mask): Column<Row> => ({
  name,
  of,
  ...(mask && { mask }),
});

type MemberName = keyof Omit<IntentDocument, 'items' | 'recovered' | 'session' | 'token'>;

/** A column for a member of the request, sent or refused. */
const requestMember = (name: MemberName) =>
  column<ExportedCall>(
    name,
    ({ intent, refusal }) => (refusal as ExportedCall['intent'])?.[name] ?? intent?.[name],
    REQUEST_MEMBERS.find((member) => member.name === name)?.masked && maskContacts,
  );

const CLIENT = [
  requestMember('client_id'),
  column<ExportedCall>('client', ({ client }) => client),
  requestMember('key_id'),
  column<ExportedCall>('actor', ({ actor }) => actor, maskContacts),
];
const RESULT = [
  column<ExportedCall>('outcome', ({ state }) => state),
  column<ExportedCall>('in_doubt_since', ({ inDoubtSince }) => inDoubtSince),
];
const REQUEST = [
  column<ExportedCall>('idempotency_key', ({ idempotencyKey }) => idempotencyKey, maskKey),
  requestMember('request_id'),
  requestMember('client_address'),
];
const EXCHANGE = [
  column<ExportedCall>('sent_at', ({ outcome }) => outcome?.sent_at),
  column<ExportedCall>('answered_at', ({ outcome }) => outcome?.answered_at),
  column<ExportedCall>('upstream_ms', ({ outcome }) => outcome && Number(outcome.upstream_ms)),
  column<ExportedCall>('upstream_status', ({ outcome }) => outcome?.upstream_status),
  column<ExportedCall>('failure', ({ outcome }) => outcome?.failure),
];
const APPROVAL = column<ExportedCall>('approval', ({ approval }) => approval);
/** Returns the resolution of a call as a whole. Undefined if its answer is in effect. */
const settledBy = ({ settlements }: ExportedCall) => {
  const last = settlements.at(-1);
  return last?.resolution === undefined ? undefined : last;
};
const ACCOUNT = column<ExportedCall>('account', ({ account }) => account);
/** Columns of the requester, except the name. */
const PERSON = [
  requestMember('actor_source'),
  requestMember('person_id'),
  requestMember('ephemeral_key_id'),
  column<ExportedCall>('token_jti', ({ intent, refusal }) => (refusal?.credential ?? intent)?.token?.jti),
  column<ExportedCall>('session_id', ({ intent, refusal }) => (refusal?.credential ?? intent)?.session?.id),
];
const RESOLUTION = column<ExportedCall>('resolution', (call) => settledBy(call)?.resolution);

const CALLS: Column<ExportedCall>[] = [
  requestMember('id'),
  requestMember('received_at'),
  ...CLIENT,
  requestMember('operation'),
  ...RESULT,
  column('item_count', ({ intent }) => intent?.item_count ?? 0),
  requestMember('total_usd'),
  requestMember('coverage'),
  requestMember('caused_by'),
  requestMember('duplicate_of'),
  ...REQUEST,
  requestMember('traceparent'),
  requestMember('recorded_at'),
  ...EXCHANGE,
  column('outcome_recorded_at', ({ outcome }) => outcome?.recorded_at),
  column('attempts', ({ outcome }) => outcome?.attempts),
  column('answer_of', ({ outcome }) => outcome?.answer_of),
  column('refusal_status', ({ refusal }) => refusal?.status),
  column('refusal_code', ({ refusal }) => refusal?.code),
  column('refusal_detail', ({ refusal }) => refusal?.detail, maskProse),
  column('first_call_id', ({ refusal }) => refusal?.first_call_id),
  requestMember('held_for'),
  requestMember('earlier_call_id'),
  requestMember('unexplained_transaction'),
  requestMember('expires_at'),
  APPROVAL,
  column('decided_at', ({ decision }) => decision?.decided_at),
  column('decided_by_client_id', ({ decision }) => decision?.client_id),
  column('decided_by_key_id', ({ decision }) => decision?.key_id),
  column('decided_by_actor', ({ decision }) => decision?.actor, maskContacts),
  column('decision_reason', ({ decision }) => decision?.reason, maskProse),
  column('decision_screening', ({ decision }) => decision?.screening),
  RESOLUTION,
  column('resolved_at', (call) => settledBy(call)?.recorded_at),
  column('resolved_by_client_id', (call) => settledBy(call)?.client_id),
  column('resolved_by_key_id', (call) => settledBy(call)?.key_id),
  column('resolved_by_actor', (call) => settledBy(call)?.actor, maskContacts),
  column('resolution_reason', (call) => settledBy(call)?.reason, maskProse),
  column('undelivered', (call) => (isUndelivered(call) ? 'true' : undefined)),
  ACCOUNT,
  ...PERSON,
];

const ofCall = (column: Column<ExportedCall>): Column<ItemRow> => ({
  ...column,
  of: ({ call }) => column.of(call),
});

/** A free-text column, which may contain a contact. */
const free = (name: 'receiver' | 'country' | 'network_code' | 'reference' | 'wallet') =>
  column<ItemRow>(name, ({ item }) => item[name], maskContacts);

/** Amount of a payout, in the column of its sum. */
const sumColumn = (name: SumName) =>
  column<ItemRow>(name, ({ item, payout, call }) =>
    payout && sumNameOf(payout.entry, call.state) === name ? item.amount_usd : undefined,
  );

const ITEMS: Column<ItemRow>[] = [
  column('call_id', ({ call }) => call.intent?.id),
  column('position', ({ position }) => position),
  ...[requestMember('received_at'), ...CLIENT, requestMember('operation'), ...RESULT].map(ofCall),
  column('recipient_field', ({ item }) => item.recipient_field),
  column('email', ({ person }) => person?.email, maskEmail),
  column('phone', ({ person }) => person?.phone, maskPhone),
  column('handle', ({ person }) => person?.handle, maskHandle),
  free('receiver'),
  column('amount_usd', ({ item }) => item.amount_usd),
  free('country'),
  free('network_code'),
  free('reference'),
  free('wallet'),
  column('requested_upstream_ref', ({ item }) => item.upstream_ref, maskContacts),
  column('upstream_ref', ({ transaction }) => transaction?.upstream_ref, maskContacts),
  column('upstream_id', ({ transaction }) => transaction?.upstream_id, maskContacts),
  column('batch_ref', ({ transaction }) => transaction?.batch_ref, maskContacts),
  column('upstream_item_status', ({ transaction }) => transaction?.status, maskProse),
  column('upstream_amount_usd', ({ transaction }) => transaction?.amount_usd),
  ...[...REQUEST, ...EXCHANGE, APPROVAL, RESOLUTION].map(ofCall),
  column('state', ({ payout, call }) => payout && payoutStateOf(payout.entry, call.state)),
  column('state_source', ({ payout }) => payout?.postings.at(-1)?.source),
  column('state_since', ({ payout }) => payout?.postings.at(-1)?.at.toISOString()),
  column('fee_usd', ({ payout }) => payout && feeUsdOf(payout)),
  column('payout_status', ({ transaction }) => transaction?.payout_status, maskProse),
  column('payout_error', ({ transaction }) => transaction?.payout_error, maskProse),
  ...[ACCOUNT, ...PERSON].map(ofCall),
  column('country_code', ({ item }) => item.country && canonicalCountry(item.country), maskContacts),
  ...SUM_NAMES.map(sumColumn),
  column('upstream_differs', ({ transaction }) => transaction?.differs?.join(' ')),
];

const LATER = LATER_MEMBERS.map(({ name }) => requestMember(name as MemberName));

/** Columns in the order of the export. The order is fixed: new columns are appended. */
export const COLUMNS = { calls: [...CALLS, ...LATER], items: [...ITEMS, ...LATER.map(ofCall)] };
