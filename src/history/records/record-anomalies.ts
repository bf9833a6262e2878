import { Decimal } from 'decimal.js';
import { ItemDocument, OutcomeDocument } from '../../journal/records/documents';
import { isErased, recipientsCommitment } from '../../journal/records/recipients';
import { NAMED_IN_ANSWER } from '../../operations/items/effects';
import { commitment } from '../../platform/privacy/commitment';
import { byPosition, commitmentOf, FullStoredCall, StoredBody } from './rows';

export const ANOMALY_CODES = [
  'success_after_not_executed',
  'sent_though_refused',
  'sent_without_approval',
  'approved_other_content',
  'amount_differs',
  'transaction_without_item',
  'item_without_transaction',
  'items_incomplete',
  'request_body_changed',
  'response_body_changed',
  'recipient_changed',
  'idempotency_key_changed',
  'request_body_erased',
  'response_body_erased',
  'recipient_erased',
  'idempotency_key_erased',
  'request_body_missing',
  'response_body_missing',
  'recipient_missing',
  'idempotency_key_missing',
  'actor_changed',
  'actor_erased',
  'actor_missing',
] as const;

/** A contradiction in a call's own records, or a record that is missing. */
export interface RecordAnomaly {
  code: (typeof ANOMALY_CODES)[number];
  detail: string;
  /** Position of the item. Null for the call. */
  position: number | null;
}

/** The records of one call, and the removals that explain missing ones. */
export interface AnomalyContext {
  call: FullStoredCall;
  refused: boolean;
  /** Places emptied by erasures and prunings: `intent_body/<call id>`, `person/<person id>`, … */
  gone: ReadonlySet<string>;
}

/** Returns the contradictions in the records of one call. They identify no person. */
export function anomaliesOf(facts: AnomalyContext): RecordAnomaly[] {
  return [...decisionAnomalies(facts), ...contentAnomalies(facts.call), ...personalAnomalies(facts)];
}

/** Compares decisions about the call with its outcome. */
function decisionAnomalies({ call, refused }: AnomalyContext): RecordAnomaly[] {
  const { intent, outcome, settlements, decision } = call;
  const { kind } = outcome ?? {};
  const anomalyIf = (isSo: boolean, code: RecordAnomaly['code'], detail: string) =>
    isSo ? [anomaly(code, detail)] : [];
  const wasSent = kind !== undefined && kind !== 'not_sent';
  return [
    ...anomalyIf(
      settlements.some(({ resolution }, place) => {
        const before = settlements[place - 1]?.resolution;
        return before === 'not_executed' && resolution === 'confirmed';
      }),
      'success_after_not_executed',
      'The call was settled as not executed, and as confirmed later. It may have been paid twice.',
    ),
    ...anomalyIf(
      refused && wasSent && decision?.kind !== 'released',
      'sent_though_refused',
      'The call was refused, but it was sent.',
    ),
    ...anomalyIf(
      intent.held_for !== undefined && wasSent && decision?.kind !== 'approved',
      'sent_without_approval',
      'The call required an approval and has none, but it was sent.',
    ),
    ...anomalyIf(
      decision !== null && hexOf(decision.bodyCommitment) !== intent.body_commitment,
      'approved_other_content',
      'The approved content differs from the recorded request.',
    ),
  ];
}

/** Compares the request with the upstream's answer. */
function contentAnomalies({ intent, outcome }: FullStoredCall): RecordAnomaly[] {
  const { operation, item_count: itemCount, total_usd: total, items = [] } = intent;
  const found: RecordAnomaly[] = [];
  const sum = items.reduce((before, { amount_usd: usd = 0 }) => before.plus(usd), new Decimal(0));
  if (items.length !== itemCount || (total !== undefined && !sum.equals(total))) {
    found.push(anomaly('items_incomplete', 'The number or total of the items differs from the record.'));
  }
  // A call without items, such as a read of the listing, owns no transactions.
  return [...found, ...(outcome && itemCount > 0 ? transactionAnomalies(operation, items, outcome) : [])];
}

/**
 * Compares items with their transactions. Only a matching transaction is linked
 * (src/gateway/forwarding/outcome/match.ts).
 */
function transactionAnomalies(
  operation: string,
  items: ItemDocument[],
  { kind, items: answered = [] }: OutcomeDocument,
): RecordAnomaly[] {
  const found: RecordAnomaly[] = [];
  const matched = byPosition(answered);
  const unmatched = new Map([...answered.entries()].filter(([, { position }]) => position === undefined));
  for (const [position, { amount_usd: requested }] of items.entries()) {
    const certain = matched.get(position);
    // Without other evidence, positions match if the numbers of transactions and items are equal.
    const paid = certain ?? (items.length === answered.length ? unmatched.get(position) : undefined);
    const reported = paid?.amount_usd;
    if (requested !== undefined && reported !== undefined && !new Decimal(reported).equals(requested)) {
      const detail = `${requested} US dollars were requested, but the upstream reports ${reported}.`;
      found.push(anomaly('amount_differs', detail, position));
      if (!certain) unmatched.delete(position);
    } else if (!certain && kind === 'succeeded' && NAMED_IN_ANSWER.has(operation)) {
      const detail = 'The upstream reports success, but no transaction certainly belongs to this item.';
      found.push(anomaly('item_without_transaction', detail, position));
    }
  }
  for (const ordinal of unmatched.keys()) {
    found.push(
      anomaly(
        'transaction_without_item',
        `Transaction ${ordinal + 1} of the response belongs to no item with certainty.`,
      ),
    );
  }
  return found;
}

/** Compares the erasable data of people with the commitments in the records. */
function personalAnomalies({ call, gone }: AnomalyContext): RecordAnomaly[] {
  const { intent, outcome, body, answer } = call;
  const { id } = intent;
  return [
    ...bodyAnomalies('request_body', intent.body_commitment, body, gone.has(`intent_body/${id}`)),
    ...bodyAnomalies('response_body', outcome?.body_commitment, answer, gone.has(`outcome_body/${id}`)),
    ...keyAnomalies(call, gone.has(`idempotency_key/${id}`)),
    ...actorAnomalies(call, gone.has(`person/${intent.person_id}`)),
    ...recipientAnomalies(call, gone),
  ];
}

function bodyAnomalies(
  what: 'request_body' | 'response_body',
  committed: string | undefined,
  found: StoredBody | null,
  gone: boolean,
): RecordAnomaly[] {
  const name = what === 'request_body' ? 'The request body' : 'The response body';
  if (committed === undefined) return [];
  if (!found) return [missingAnomaly(what, name, gone, null)];
  return commitmentOf(found) === committed
    ? []
    : [anomaly(`${what}_changed`, `${name} does not match the commitment in its record. It was changed.`)];
}

function keyAnomalies({ intent, key: stored }: FullStoredCall, gone: boolean): RecordAnomaly[] {
  const { idempotency_key_commitment: committed } = intent;
  if (committed === undefined) return [];
  if (!stored) return [missingAnomaly('idempotency_key', 'The idempotency key', gone, null)];
  if (hexOf(commitment(Buffer.from(stored.salt), stored.text)) === committed) return [];
  const detail = 'The idempotency key does not match the commitment in its record. It was changed.';
  return [anomaly('idempotency_key_changed', detail)];
}

/** Compares the requester's name. A name set after an erasure does not belong to earlier records. */
function actorAnomalies({ intent, person: { name, salt } }: FullStoredCall, gone: boolean): RecordAnomaly[] {
  const { actor_commitment: committed } = intent;
  if (committed === undefined) return [];
  if (name === null || salt === null) return [missingAnomaly('actor', 'The name of the person', gone, null)];
  if (hexOf(commitment(Buffer.from(salt), name)) === committed) return [];
  if (gone) return [missingAnomaly('actor', 'The name of the person', gone, null)];
  return [
    anomaly(
      'actor_changed',
      'The name of the person does not match the commitment in the record. It was changed.',
    ),
  ];
}

/** Compares the names with the one commitment to all of them. Erased names left their own commitments. */
function recipientAnomalies(
  { intent, people, peopleSalt }: FullStoredCall,
  gone: ReadonlySet<string>,
): RecordAnomaly[] {
  const { id, recipients_commitment: committed } = intent;
  if (committed === undefined) return [];
  const place = `item_recipient/${id}`;
  if (people.length === 0) return [missingAnomaly('recipient', 'The recipient', gone.has(place), null)];
  if (recipientsCommitment(id, { people, peopleSalt })?.toString('hex') !== committed) {
    const detail = 'The recipients do not match the commitment in the record. They were changed.';
    return [anomaly('recipient_changed', detail)];
  }
  return people
    .filter(isErased)
    .map(({ position }) =>
      missingAnomaly('recipient', 'The recipient', gone.has(`${place}/${position}`), position),
    );
}

function missingAnomaly(
  what: 'request_body' | 'response_body' | 'recipient' | 'idempotency_key' | 'actor',
  name: string,
  gone: boolean,
  position: number | null,
) {
  return gone
    ? anomaly(`${what}_erased`, `${name} was erased or pruned. A record documents this.`, position)
    : anomaly(`${what}_missing`, `${name} is missing, and no record explains why.`, position);
}

function anomaly(code: RecordAnomaly['code'], detail: string, position: number | null = null): RecordAnomaly {
  return { code, detail, position };
}

function hexOf(bytes: Uint8Array | null): string | undefined {
  return bytes ? Buffer.from(bytes).toString('hex') : undefined;
}
