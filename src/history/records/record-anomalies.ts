import { NAMED_IN_ANSWER } from '../../operations/effects';
import { Decimal } from 'decimal.js';
import { commitment } from '../../journal/commitment';
import { RecordedItem, RecordedOutcome } from '../../journal/recorded-calls';
import { FullIntentRow, StoredBody } from './rows';

export const ANOMALY_CODES = [
  'success_after_not_executed',
  'rejected_after_confirmed',
  'sent_though_refused',
  'sent_without_approval',
  'approved_other_content',
  'amount_differs',
  'transaction_without_item',
  'item_without_transaction',
  'items_incomplete',
  ...(['request_body_changed', 'response_body_changed', 'recipient_changed'] as const),
  ...(['request_body_erased', 'response_body_erased', 'recipient_erased'] as const),
  ...(['request_body_missing', 'response_body_missing', 'recipient_missing'] as const),
] as const;

/** A contradiction in a call's own records, or a record that is missing. */
export interface RecordAnomaly {
  code: (typeof ANOMALY_CODES)[number];
  detail: string;
  /** The position of the item. Null for the call. */
  position: number | null;
}

/** The records of one call. */
export interface Facts {
  intent: FullIntentRow;
  refused: boolean;
  /** The places that erasures and prunings have emptied: `intent_body/<call id>`, … */
  gone: ReadonlySet<string>;
}

type Bytes = Uint8Array | null;

/** Returns the contradictions in the records of one call. Names nobody. */
export function anomaliesOf(facts: Facts): RecordAnomaly[] {
  return [...contradictedDecisions(facts), ...content(facts.intent), ...people(facts)];
}

/** Compares decisions about the call with its outcome. */
function contradictedDecisions({
  intent: { outcome, resolution, heldFor, decision, bodyCommitment },
  refused,
}: Facts): RecordAnomaly[] {
  const { kind } = outcome ?? {};
  const was = (isSo: boolean, code: RecordAnomaly['code'], detail: string) => (isSo ? [find(code, detail)] : []);
  const wasSent = kind !== undefined && kind !== 'not_sent';
  return [
    ...was(
      kind === 'succeeded' && resolution?.outcome === 'not_executed',
      'success_after_not_executed',
      'The call was settled as not executed, but the upstream then reported that it was carried out. It counts against no cap, and it may have been paid again.',
    ),
    ...was(
      kind === 'rejected' && resolution?.outcome === 'confirmed',
      'rejected_after_confirmed',
      'The call was settled as confirmed, but the upstream then reported that it was not carried out.',
    ),
    ...was(refused && wasSent, 'sent_though_refused', 'The call was refused, but it was sent.'),
    ...was(
      heldFor !== null && wasSent && decision?.kind !== 'approved',
      'sent_without_approval',
      'The call required an approval and has none, but it was sent.',
    ),
    ...was(
      decision !== null && !sameBytes(decision.bodyCommitment, bodyCommitment),
      'approved_other_content',
      'The approved content differs from the recorded request.',
    ),
  ];
}

/** Compares the request with what the upstream says it did. */
function content({ operation, itemCount, totalUsd, items, outcome }: FullIntentRow): RecordAnomaly[] {
  const found: RecordAnomaly[] = [];
  const sum = items.reduce((total, { amountUsd }) => (amountUsd ? total.plus(amountUsd) : total), new Decimal(0));
  if (items.length !== itemCount || (totalUsd && !totalUsd.equals(sum))) {
    found.push(find('items_incomplete', 'The number or total of the items differs from the record.'));
  }
  // A call without items, such as a read of the listing, has nothing that transactions could belong to.
  return [...found, ...(outcome && itemCount > 0 ? transactions(operation, items, outcome) : [])];
}

/** Compares items with their transactions. Only a matching transaction is linked (src/gateway/forwarding/match.ts). */
function transactions(
  operation: string,
  items: RecordedItem[],
  { kind, items: answered }: RecordedOutcome,
): RecordAnomaly[] {
  const found: RecordAnomaly[] = [];
  const matched = new Map(answered.map((transaction) => [transaction.position, transaction]));
  const unmatched = new Map(answered.filter(({ position }) => position === null).map((one) => [one.ordinal, one]));
  for (const { position, amountUsd } of items) {
    // Without other evidence, a transaction belongs to the item at its position, if the answer has as many as the
    // request.
    const paid = matched.get(position) ?? (items.length === answered.length ? unmatched.get(position) : undefined);
    if (amountUsd && paid?.amountUsd && !paid.amountUsd.equals(amountUsd)) {
      const detail = `${amountUsd.toFixed()} US dollars were requested, but the upstream reports ${paid.amountUsd.toFixed()}.`;
      found.push(find('amount_differs', detail, position));
      unmatched.delete(paid.ordinal);
    } else if (!matched.has(position) && kind === 'succeeded' && NAMED_IN_ANSWER.has(operation)) {
      const detail =
        "The upstream's response reports success but names no transaction that certainly belongs to this item.";
      found.push(find('item_without_transaction', detail, position));
    }
  }
  for (const ordinal of unmatched.keys()) {
    found.push(
      find('transaction_without_item', `Transaction ${ordinal + 1} of the response belongs to no item with certainty.`),
    );
  }
  return found;
}

/** Compares the people's data beside the records with the commitments in the records. */
function people({ intent, gone }: Facts): RecordAnomaly[] {
  const { id, body, bodyCommitment, items, outcome } = intent;
  const wasGone = (place: string) => gone.has(place);
  return [
    ...kept('request_body', bodyCommitment, body, wasGone(`intent_body/${id}`)),
    ...(outcome ? kept('response_body', outcome.bodyCommitment, outcome.body, wasGone(`outcome_body/${id}`)) : []),
    ...items.flatMap((item) => recipientAnomaly(item, wasGone(`item_recipient/${id}/${item.position}`))),
  ];
}

function kept(
  what: 'request_body' | 'response_body',
  committed: Bytes,
  found: StoredBody | null,
  gone: boolean,
): RecordAnomaly[] {
  const name = what === 'request_body' ? 'The request body' : 'The response body';
  if (committed === null) return [];
  if (!found) return [missing(what, name, gone, null)];
  const same = sameBytes(committed, commitment(Buffer.from(found.salt), Buffer.from(found.body)));
  return same
    ? []
    : [find(`${what}_changed`, `${name} does not match the commitment in its record. Somebody changed it.`)];
}

function recipientAnomaly(item: RecordedItem, gone: boolean): RecordAnomaly[] {
  const { position, recipient, emailCommitment, phoneCommitment, handleCommitment } = item;
  const committed = [emailCommitment, phoneCommitment, handleCommitment];
  if (committed.every((one) => one === null)) return [];
  if (!recipient) return [missing('recipient', 'The recipient', gone, position)];
  const { salt, email, phone, handle } = recipient;
  const found = [email, phone, handle].map((value) => commitment(salt, value));
  if (committed.every((one, place) => sameBytes(one, found[place] ?? null))) return [];
  return [
    find(
      'recipient_changed',
      'The recipient does not match the commitment in the record. Somebody changed it.',
      position,
    ),
  ];
}

function missing(
  what: 'request_body' | 'response_body' | 'recipient',
  name: string,
  gone: boolean,
  position: number | null,
) {
  return gone
    ? find(`${what}_erased`, `${name} was erased or pruned. A record documents this.`, position)
    : find(`${what}_missing`, `${name} is missing, and no record explains why.`, position);
}

function find(code: RecordAnomaly['code'], detail: string, position: number | null = null): RecordAnomaly {
  return { code, detail, position };
}

function sameBytes(one: Bytes, other: Bytes): boolean {
  return one === null || other === null ? one === other : Buffer.from(one).equals(Buffer.from(other));
}
