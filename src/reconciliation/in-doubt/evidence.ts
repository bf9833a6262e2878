import { Decimal } from 'decimal.js';
import { VerdictEvidence, VerdictTransaction } from '../../journal/resolver-verdicts';
import { asRecorded, proseAsRecorded, writtenNumbers } from '../../platform/privacy/recorded';
import { Seen } from './calls-in-doubt';

/** The most transactions kept as evidence when they do not settle a call. */
export const MOST_UNSETTLED = 100;

/**
 * Builds the evidence of a verdict.
 * @param positions the item of each transaction. Undefined if that is not certain. Then the first hundred are kept.
 */
export function evidenceOf(reads: string[], seen: Seen[], calls: string[], positions?: number[]): VerdictEvidence {
  const kept = positions ? seen : seen.slice(0, MOST_UNSETTLED);
  return {
    reads,
    transactions: kept.map((one, place) => toEvidence(one, positions?.[place] ?? null)),
    calls: calls.slice(0, MOST_UNSETTLED),
  };
}

function toEvidence(seen: Seen, position: number | null): VerdictTransaction {
  // An upstream may use the recipient's phone number as the ID of a payment.
  const phones = seen.names.filter((key) => key.startsWith('+'));
  const numbers = writtenNumbers(phones);
  return {
    read_id: seen.readId,
    ordinal: seen.ordinal,
    position,
    upstream_ref: asRecorded(seen.upstreamRef, numbers),
    upstream_id: asRecorded(seen.upstreamId, numbers),
    batch_ref: asRecorded(seen.batchRef, numbers),
    at: seen.issuedAt?.toISOString() ?? null,
    status: proseAsRecorded(seen.status),
    amount_usd: seen.amountUsd === null ? null : new Decimal(seen.amountUsd).toFixed(),
  };
}
