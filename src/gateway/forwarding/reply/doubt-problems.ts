import { FirstCall } from '../../../journal/lookups/earlier-calls';
import { UNVERIFIED_REJECTION } from '../../../operations/lifecycle/rejections';
import { clock } from '../../../platform/database/clock';
import { Problem } from '../../../platform/errors/problem';

/** Longest wait before the next look at a call in doubt, in seconds. */
const LONGEST_WAIT = 60;

/**
 * Returns the refusal to repeat a call in doubt.
 * @param state of the outcome, as a clause.
 */
export function inDoubt({ id, ageMs }: FirstCall, state = 'is unknown'): Problem {
  return new Problem('outcome_unknown', {
    status: 409,
    text:
      `The outcome of the first request with this Idempotency-Key ${state}, so nothing was sent again. ` +
      `GET /v1/calls/${id} shows its outcome once it is recorded.`,
    firstCallId: id,
    // Grows with the age of the call.
    retryAfter: Math.min(LONGEST_WAIT, Math.max(1, Math.ceil(ageMs / 2_000))),
  });
}

/**
 * Returns the refusal to repeat a call while its rejection is verified. Undefined for other calls in doubt,
 * and after the quiet period, because a verdict may then come at any time, or need a person.
 */
export function inVerification({ id, outcome }: FirstCall, quietMs: number): Problem | undefined {
  if (outcome?.failure !== UNVERIFIED_REJECTION) return undefined;
  const until = new Date(new Date(outcome.answered_at).getTime() + quietMs);
  const leftMs = until.getTime() - clock.nowMs();
  if (leftMs <= 0) return undefined;
  return new Problem('outcome_unknown', {
    status: 409,
    text:
      'The payout service rejected the first request with this Idempotency-Key. Until ' +
      `${until.toISOString()}, it is not proven that nothing was carried out, so nothing was sent again. ` +
      `Then GET /v1/calls/${id} shows the outcome.`,
    firstCallId: id,
    retryAfter: Math.ceil(leftMs / 1_000),
  });
}
