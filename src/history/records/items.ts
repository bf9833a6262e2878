import { ItemDocument, TransactionDocument } from '../../journal/records/documents';
import { PersonDocument } from '../../journal/records/recipients';
import { LedgerItem } from '../../journal/settlement/ledger';
import { payoutIdOf } from '../../operations/catalogue/payout-id';
import { Difference } from '../../operations/items/item';
import { CallState, stateOf } from '../../operations/lifecycle/lifecycle';
import { NEXT_STEPS, payoutStateOf } from '../../operations/lifecycle/settlement';
import { feeUsdOf } from '../../operations/lifecycle/sums';
import { maskContacts, maskEmail, maskHandle, maskPhone, maskProse } from '../../platform/privacy/contacts';
import { RecordEntry, RecordUpstreamItem } from './record-parts.dto';
import { RecordItem } from './record.dto';
import { byPosition, StoredCall } from './rows';
import { shown, View } from './view';

/**
 * Returns the items of a call.
 * @param isShown whether to show the item at a position.
 */
export function itemsOf(call: StoredCall, view: View, isShown: (position: number) => boolean): RecordItem[] {
  const people = byPosition(call.people);
  const transactions = byPosition(call.outcome?.items);
  const state = stateOf(call.lifecycle, view.present);
  return (call.intent.items ?? []).flatMap((item, position) => {
    if (!isShown(position)) return [];
    const payout = toPayout(call.intent.id, call.payouts[position], state);
    const upstream = transactionOf(transactions.get(position), call.payouts[position]);
    return toItem(item, { position, person: people.get(position), upstream, payout }, view);
  });
}

/** The members that only payouts have. */
type PayoutFields = Pick<RecordItem, 'payout_id' | 'state' | 'next' | 'fee_usd' | 'expected_fee_usd'>;

const NO_PAYOUT: PayoutFields = {
  payout_id: null,
  state: null,
  next: null,
  fee_usd: null,
  expected_fee_usd: null,
};

function toPayout(callId: string, payout: LedgerItem | undefined, call: CallState): PayoutFields {
  if (!payout) return NO_PAYOUT;
  const state = payoutStateOf(payout.entry, call);
  return {
    payout_id: payoutIdOf(callId, payout.position),
    state,
    next: NEXT_STEPS[state],
    fee_usd: feeUsdOf(payout) ?? null,
    expected_fee_usd: payout.expectedFeeUsd.isZero() ? null : payout.expectedFeeUsd.toFixed(),
  };
}

/** Data of an item from the other records of its call. */
interface ItemContext {
  position: number;
  person: PersonDocument | undefined;
  upstream: TransactionDocument | undefined;
  payout: PayoutFields;
}

/** Lists every member, like `toRecord`, because V8 would create a dictionary for a spread. */
function toItem(
  item: ItemDocument,
  { position, person, upstream, payout }: ItemContext,
  view: View,
): RecordItem {
  const { reveal } = view;
  return {
    position,
    recipient: {
      email: shown(person?.email, reveal, maskEmail),
      phone: shown(person?.phone, reveal, maskPhone),
      handle: shown(person?.handle, reveal, maskHandle),
      receiver: shown(item.receiver, reveal, maskContacts),
    },
    recipient_field: item.recipient_field ?? null,
    note: item.handle_ignored ? 'Both an email and a handle were given. The email is used.' : null,
    amount_usd: item.amount_usd ?? null,
    // Callers may have written a contact into these texts.
    country: shown(item.country, reveal, maskContacts),
    network_code: shown(item.network_code, reveal, maskContacts),
    reference: shown(item.reference, reveal, maskContacts),
    wallet: shown(item.wallet, reveal, maskContacts),
    upstream_ref: shown(item.upstream_ref, reveal, maskContacts),
    upstream: upstream ? toUpstreamItem(upstream, view) : null,
    payout_id: payout.payout_id,
    state: payout.state,
    next: payout.next,
    fee_usd: payout.fee_usd,
    expected_fee_usd: payout.expected_fee_usd,
  };
}

export function toUpstreamItem(item: TransactionDocument, { reveal }: View): RecordUpstreamItem {
  return {
    upstream_ref: shown(item.upstream_ref, reveal, maskContacts),
    upstream_id: shown(item.upstream_id, reveal, maskContacts),
    batch_ref: shown(item.batch_ref, reveal, maskContacts),
    status: shown(item.status, reveal, maskProse),
    amount_usd: item.amount_usd ?? null,
    payout_status: shown(item.payout_status, reveal, maskProse),
    payout_error: shown(item.payout_error, reveal, maskProse),
    differs: (item.differs ?? []) as Difference[],
  };
}

/**
 * Returns the transaction of a payout in its latest state.
 * @param answered transaction in the answer. Its amount never changes.
 */
export function transactionOf(
  answered: TransactionDocument | undefined,
  payout: LedgerItem | undefined,
): TransactionDocument | undefined {
  if (!payout?.transaction) return answered;
  const { upstream_ref, upstream_id, batch_ref, status } = payout.transaction;
  return {
    amount_usd: answered ? answered.amount_usd : payout.amountUsd?.toFixed(),
    batch_ref: batch_ref ?? undefined,
    differs: answered?.differs,
    fee_usd: answered?.fee_usd,
    payout_error: answered?.payout_error,
    payout_status: answered?.payout_status,
    position: answered?.position,
    status: status ?? undefined,
    upstream_id: upstream_id ?? undefined,
    upstream_ref: upstream_ref ?? undefined,
  };
}

/** Returns the ledger of a payout, oldest entry first. A held call reserves its amounts at the approval. */
export function ledgerEntriesOf(
  { lifecycle, decision }: StoredCall,
  { position, postings }: LedgerItem,
  reveal: boolean,
): RecordEntry[] {
  if (lifecycle.heldFor !== null && decision?.kind !== 'approved') return [];
  return postings.map(({ entry, from, to, amountUsd, status, source, at }) => ({
    position,
    entry,
    from,
    to,
    amount_usd: amountUsd?.toFixed() ?? null,
    status: shown(status, reveal, maskProse),
    source,
    at: entry === 'reserved' && lifecycle.heldFor !== null ? (decision?.decidedAt ?? at) : at,
  }));
}
