import { canonical } from '../policy/content';
import { membersIn, UNSTAMPED } from './document-sql';
import { OutcomeDocument } from './documents';
import { claimedKeyOf, IntentLine, keyOf } from './local-copies';
import { NO_PROCESS } from './lost-time';
import { OUTCOME_COLUMNS } from './outcomes';
import { INTENT_COLUMNS } from './request-members';

/** Returns the columns of a copied intent, and its record without commitments to what is not in the copy. */
export function columnsOf(line: IntentLine) {
  const { record, claim } = line;
  const document = { ...withoutCommitments(record), process: NO_PROCESS };
  const { items } = document;
  const isBeside = claim?.key !== undefined;
  return {
    ...membersIn(document, INTENT_COLUMNS),
    idempotency_key: keyOf(line) ?? null,
    claim_key: claimedKeyOf(line) ?? null,
    salt: claim?.salt ?? null,
    hash: claim?.hash ?? null,
    contents: line.contents,
    payments: line.payments ?? null,
    key_salt: isBeside ? claim.salt : null,
    record: canonical({
      ...document,
      ...(isBeside && { idempotency_key_commitment: record.idempotency_key_commitment }),
      ...(items && { items: items.map(withoutCommitments) }),
      recorded_at: UNSTAMPED,
      recovered: true,
    }),
  };
}

/** Returns the columns of a copied outcome, and its record without the commitment to its answer. */
export function outcomeColumnsOf(record: OutcomeDocument) {
  const document = withoutCommitments(record);
  return {
    ...membersIn(document, OUTCOME_COLUMNS),
    record: canonical({ ...document, recorded_at: UNSTAMPED, recovered: true }),
  };
}

function withoutCommitments<Document extends object>(document: Document): Document {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !name.endsWith('_commitment'))) as Document;
}
