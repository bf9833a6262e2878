import { Decimal } from 'decimal.js';
import { VerdictEvidence, VerdictTransaction } from '../../journal/records';
import { asRecorded, proseAsRecorded, writtenNumbers } from '../../platform/privacy/recorded';
import { Seen } from './calls-in-doubt';

/** Of what does not settle a call, the first ones say enough. */
export const MOST_UNSETTLED = 100;

/** @param positions of the item that each is; undefined where that is not certain: then the first hundred are kept. */
export function evidenceOf(reads: string[], seen: Seen[], calls: string[], positions?: number[]): VerdictEvidence {
  const kept = positions ? seen : seen.slice(0, MOST_UNSETTLED);
  return {
    reads,
    transactions: kept.map((one, place) => toEvidence(one, positions?.[place] ?? null)),
    calls: calls.slice(0, MOST_UNSETTLED),
  };
}

function toEvidence(seen: Seen, position: number | null): VerdictTransaction {
  // An upstream may call a payment by the number that it goes to.
  const phones = seen.names.flatMap((name) => (name.startsWith('p:') ? [`+${name.slice(2)}`] : []));
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
