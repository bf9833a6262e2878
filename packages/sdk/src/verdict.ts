import type { ApiError } from './errors.ts';
import type { PaymentResult } from './results.ts';
import type { Answer } from './transport.ts';

/** What an answer to a payment means for it. */
export type Verdict<Body> =
  /** The answer states the outcome of the payment. */
  | { kind: 'result'; result: PaymentResult<Body> }
  /** The records of this call state the outcome of the payment. */
  | { kind: 'look_up'; callId: string; error?: ApiError }
  /** This attempt was not carried out, and may be repeated. */
  | { kind: 'again'; error: ApiError }
  /** This attempt was refused. */
  | { kind: 'refused'; error: ApiError };

/** Codes about the outcome of the call with the key, and not only of this attempt. */
const OF_FIRST_CALL: readonly string[] = ['approval_rejected', 'approval_expired', 'answer_erased'];

const NO_ERROR = 'None';

/**
 * Reads an answer by its `code` and `action`, or by the envelope of the interface. The HTTP status decides
 * nothing.
 */
export function verdictOf<Body>({ body, callId, error }: Answer, idempotencyKey: string): Verdict<Body> {
  if (error) return ofError(error, idempotencyKey);
  const { status, data } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (status === 'pending_approval') {
    return { kind: 'result', result: { status: 'held', settled: false, idempotencyKey, callId } };
  }
  // The provider's errors do not say whether it paid, and its success with an error text not which payouts it
  // made.
  if (status !== 'success' || hasErrorText(data)) return { kind: 'look_up', callId };
  const answer = body as Body;
  const result = {
    status: 'succeeded',
    settled: false,
    idempotencyKey,
    callId,
    items: undefined,
    answer,
  } as const;
  return { kind: 'result', result };
}

function ofError<Body>(error: ApiError, idempotencyKey: string): Verdict<Body> {
  const { action, code, firstCallId, callId } = error;
  // The call that is open is another payment, which is not followed in place of this one.
  if (code === 'suspected_duplicate') return { kind: 'refused', error };
  if (action === 'wait') {
    const call = firstCallId ?? callId;
    return {
      kind: 'result',
      result: { status: 'unknown', settled: false, idempotencyKey, callId: call, error },
    };
  }
  if (action === 'retry_same_key') return { kind: 'again', error };
  if (!OF_FIRST_CALL.includes(code)) return { kind: 'refused', error };
  const call = firstCallId ?? callId;
  return {
    kind: 'result',
    result: { status: 'rejected', settled: true, idempotencyKey, callId: call, items: undefined, error },
  };
}

function hasErrorText(data: unknown): boolean {
  const text: unknown = typeof data === 'object' && data !== null && 'error' in data ? data.error : undefined;
  return text !== undefined && text !== null && text !== NO_ERROR;
}
