import { OutcomeDocument } from '../../../src/journal/records/documents';
import { NewOutcome } from '../../../src/journal/records/records';
import { asRecorded, proseAsRecorded } from '../../../src/platform/privacy/recorded';

/** Returns the record of an outcome, with the time and the body's commitment of `read`. */
export function outcomeOf(outcome: NewOutcome, read: OutcomeDocument): OutcomeDocument {
  const tries = outcome.tries.map(({ failure, ms, phase, startedAt, status }) => ({
    failure: failure ?? undefined,
    ms: ms.toFixed(3),
    phase,
    started_at: startedAt.toISOString(),
    status: status ?? undefined,
  }));
  const items = outcome.items.map(
    ({ position, upstreamRef, upstreamId, batchRef, status, amountUsd, feeUsd, ...more }) => ({
      payout_status: proseAsRecorded(more.payoutStatus ?? null) ?? undefined,
      payout_error: proseAsRecorded(more.payoutError ?? null) ?? undefined,
      fee_usd: feeUsd?.toFixed(),
      position: position ?? undefined,
      upstream_ref: asRecorded(upstreamRef) ?? undefined,
      upstream_id: asRecorded(upstreamId) ?? undefined,
      batch_ref: asRecorded(batchRef) ?? undefined,
      status: proseAsRecorded(status) ?? undefined,
      amount_usd: amountUsd?.toFixed(),
    }),
  );
  return {
    table: 'outcome',
    intent_id: outcome.intentId,
    kind: outcome.kind,
    failure: outcome.failure ?? undefined,
    upstream_status: outcome.upstreamStatus ?? undefined,
    content_type: asRecorded(outcome.contentType) ?? undefined,
    retry_after: outcome.retryAfter ?? undefined,
    sent_at: outcome.sentAt.toISOString(),
    answered_at: outcome.answeredAt.toISOString(),
    upstream_ms: outcome.upstreamMs.toFixed(3),
    answer_of: outcome.answerOf ?? undefined,
    attempts: outcome.attempts,
    undelivered: outcome.undelivered || undefined,
    counted_usd: outcome.countedUsd ?? undefined,
    entries: outcome.entries?.every((one) => one === outcome.entries?.[0])
      ? outcome.entries[0]
      : outcome.entries,
    body_commitment: read.body_commitment,
    recorded_at: read.recorded_at,
    tries: tries.length > 0 ? tries : undefined,
    items: items.length > 0 ? items : undefined,
  };
}
