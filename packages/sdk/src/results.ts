import { ApiError, type NetworkError, type PayoutProxyError, ProviderError } from './errors.ts';
import type { FullCallRecord, PayoutItem } from './types.ts';

interface Common {
  /** The key of the payment. */
  idempotencyKey: string;
  /** Whether nothing further is expected: every payout of the payment is paid, or is certainly not. */
  settled: boolean;
}

interface OfCall extends Common {
  /** The call, for `calls.get`. */
  callId: string;
}

/** It was carried out. Until it is settled, a payout may still be pending, fail or come back. */
export interface Succeeded<Answer> extends OfCall {
  status: 'succeeded';
  /** State of each payout. Undefined until the ledger was read. */
  items: PayoutItem[] | undefined;
  /** The provider's answer, if it gave one. */
  answer: Answer | undefined;
}

/** Some of its payouts were paid. `items` has the state and the next step of each. */
export interface Partially<Answer> extends OfCall {
  status: 'partially';
  items: PayoutItem[];
  answer: Answer | undefined;
}

/** Nothing was paid. Another attempt needs a change, a decision, or a new key: see `error`. */
export interface Rejected extends Common {
  status: 'rejected';
  /** Undefined if the proxy refused it, so that nothing was sent. */
  callId: string | undefined;
  items: PayoutItem[] | undefined;
  /** Why. An `ApiError` of the proxy has an `action`, and a `ProviderError` has the provider's text. */
  error: PayoutProxyError;
}

/** It waits for an approver. Nothing was paid yet. */
export interface Held extends OfCall {
  status: 'held';
}

/** It is being sent: an approver has just approved it, or another program sends it. */
export interface InProgress extends OfCall {
  status: 'in_progress';
}

/** Nobody knows yet whether it was paid. Do not pay it again. `settled()` follows it. */
export interface Unknown extends Common {
  status: 'unknown';
  /** Undefined if no answer arrived, or if a person must decide whether it is the call that `error` names. */
  callId: string | undefined;
  error: PayoutProxyError | undefined;
}

/** Nothing was paid, and nothing is on its way. The key is free: `send()` tries again with the same one. */
export interface NotSent extends Common {
  status: 'not_sent';
  callId: string | undefined;
  error: ApiError | NetworkError | undefined;
}

/** What is known about a payment. */
export type PaymentResult<Answer = unknown> =
  | Succeeded<Answer>
  | Partially<Answer>
  | Rejected
  | Held
  | InProgress
  | Unknown
  | NotSent;

const STILL_OPEN: readonly unknown[] = ['wait', 'await_approval'];
const IN_DOUBT: readonly unknown[] = ['in_doubt', 'reserved', 'held'];

/**
 * With these statuses, the provider refuses or limits the proxy itself, before it reads the request. The key
 * is free.
 */
const GATEWAY_REFUSALS: readonly unknown[] = [401, 403, 429];

const DECLINED = {
  declined: {
    code: 'approval_rejected',
    action: 'ask',
    error: 'An approver rejected this request. Nothing was sent.',
  },
  expired: {
    code: 'approval_expired',
    action: 'new_key',
    error: 'This request was not approved in time. Nothing was sent. To try again, make a new payment.',
  },
} as const;

/** Returns what the records of a call say about its payment. */
export function resultOf<Answer>(record: FullCallRecord, idempotencyKey: string): PaymentResult<Answer> {
  const { id: callId, outcome, items } = record;
  const of = { idempotencyKey, callId };
  switch (outcome) {
    case 'succeeded':
    case 'confirmed':
      return carriedOut<Answer>(record, of);
    case 'pending_approval':
      return { status: 'held', settled: false, ...of };
    case 'not_sent':
    case 'not_executed':
      return { status: 'not_sent', settled: true, ...of, error: undefined };
    case 'rejected': {
      const isFree = GATEWAY_REFUSALS.includes(record.upstream?.status);
      if (isFree) return { status: 'not_sent', settled: true, ...of, error: undefined };
      return { status: 'rejected', settled: true, ...of, items, error: providerError(record.response?.body) };
    }
    case 'declined':
    case 'expired': {
      const error = new ApiError({ ...DECLINED[outcome], call_id: callId });
      return { status: 'rejected', settled: true, ...of, items, error };
    }
    case 'refused':
      return { status: 'rejected', settled: true, ...of, items, error: refusalOf(record) };
    case 'in_progress':
      return { status: 'in_progress', settled: false, ...of };
    case 'unknown':
    default: // a newer proxy may know more outcomes
      return { status: 'unknown', settled: false, ...of, error: undefined };
  }
}

function carriedOut<Answer>(
  record: FullCallRecord,
  of: { idempotencyKey: string; callId: string },
): PaymentResult<Answer> {
  const items = record.items;
  const answer = (record.response?.body ?? undefined) as Answer | undefined;
  const payouts = items.filter(({ state }) => state !== null);
  const settled = payouts.every(({ next }) => !STILL_OPEN.includes(next));
  const back = payouts.filter(({ next }) => next === 'send_again').length;
  const inDoubt = payouts.filter(({ state }) => IN_DOUBT.includes(state)).length;
  if (back + inDoubt === 0) return { status: 'succeeded', settled, ...of, items, answer };
  if (back + inDoubt < payouts.length) return { status: 'partially', settled, ...of, items, answer };
  if (inDoubt > 0) return { status: 'unknown', settled, ...of, error: undefined };
  const states = [...new Set(payouts.map(({ state }) => state))].join(', ');
  const error = new ProviderError(`No payout of this call is paid: ${states}.`, answer);
  return { status: 'rejected', settled, ...of, items, error };
}

function refusalOf({ id, refusal }: FullCallRecord): ApiError {
  const { code = 'internal_error', detail = 'The proxy refused this request.', errors = [] } = refusal ?? {};
  return new ApiError({ code: code as ApiError['code'], action: 'ask', error: detail, call_id: id, errors });
}

/** Returns the error of an answer of the provider. */
export function providerError(answer: unknown): ProviderError {
  const text: unknown =
    typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : undefined;
  return new ProviderError(typeof text === 'string' ? text : 'The provider rejected this request.', answer);
}
