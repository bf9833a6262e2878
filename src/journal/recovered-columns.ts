import { canonical } from '../policy/content';
import { UNSTAMPED } from './document-sql';
import { OutcomeDocument } from './documents';
import { claimedKeyOf, IntentLine, keyOf } from './local-copies';
import { NO_PROCESS } from './lost-time';

/** Returns the columns of a copied intent, and its record without commitments to what is not in the copy. */
export function columnsOf(line: IntentLine) {
  const { record, claim } = line;
  const document = withoutCommitments(record);
  const { items } = document;
  const isBeside = claim?.key !== undefined;
  return {
    id: document.id,
    client_id: document.client_id,
    operation: document.operation,
    item_count: document.item_count,
    total_usd: document.total_usd ?? null,
    expected_fee_usd: document.expected_fee_usd ?? null,
    held_for: document.held_for ?? null,
    expires_at: document.expires_at ?? null,
    reserved_on: document.reserved_on ?? null,
    idempotency_key: keyOf(line) ?? null,
    claim_key: claimedKeyOf(line) ?? null,
    person_id: document.person_id ?? null,
    ephemeral_key_id: document.ephemeral_key_id ?? null,
    salt: claim?.salt ?? null,
    hash: claim?.hash ?? null,
    contents: line.contents,
    payments: line.payments ?? null,
    key_salt: isBeside ? claim.salt : null,
    record: canonical({
      ...document,
      ...(isBeside && { idempotency_key_commitment: record.idempotency_key_commitment }),
      ...(items && { items: items.map(withoutCommitments) }),
      process: NO_PROCESS,
      recorded_at: UNSTAMPED,
      recovered: true,
    }),
  };
}

/** Returns the columns of a copied outcome, and its record without the commitment to its answer. */
export function outcomeColumnsOf(record: OutcomeDocument) {
  const document = withoutCommitments(record);
  return {
    intent_id: document.intent_id,
    kind: document.kind,
    upstream_status: document.upstream_status ?? null,
    upstream_ms: document.upstream_ms,
    sent_at: document.sent_at,
    answered_at: document.answered_at,
    counted_usd: document.counted_usd ?? null,
    record: canonical({ ...document, recorded_at: UNSTAMPED, recovered: true }),
  };
}

function withoutCommitments<Document extends object>(document: Document): Document {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !name.endsWith('_commitment'))) as Document;
}
