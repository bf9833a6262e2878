import { ApiError, type NetworkError, type PayoutProxyError, ProviderError } from './errors.ts';
import type { FullCallRecord, PayoutItem } from './types.ts';

interface ResultBase {
  /** Key of the payment. */
  idempotencyKey: string;
  /** Whether the result is final: every payout of the payment is paid, or certainly not. */
  settled: boolean;
}

interface CallResult extends ResultBase {
  /** ID of the call, for `calls.get`. */
  callId: string;
}

/** Result of a payment that was carried out. Until it is settled, a payout may be pending or fail. */
export interface SucceededResult<Answer> extends CallResult {
  status: 'succeeded';
  /** State of each payout. Undefined until the call is read. */
  items: PayoutItem[] | undefined;
  /** Answer of the provider, if any. */
  answer: Answer | undefined;
}

/** Result of a payment with some paid payouts. `items` has the state and the next step of each. */
export interface PartialResult<Answer> extends CallResult {
  status: 'partially';
  items: PayoutItem[];
  answer: Answer | undefined;
}

/** Result of a payment without any paid payout. Another attempt needs a change, a decision, or a new key. */
export interface RejectedResult extends ResultBase {
  status: 'rejected';
  /** Undefined if the proxy rejected it before it sent anything. */
  callId: string | undefined;
  items: PayoutItem[] | undefined;
  /** Reason. An `ApiError` of the proxy has an `action`, and a `ProviderError` has the provider's text. */
  error: PayoutProxyError;
}

/** Result of a payment that waits for an approver. Nothing was paid yet. */
export interface HeldResult extends CallResult {
  status: 'held';
}

/** Result of a payment that waits for its turn (`respondAsync`). It was accepted, and is not sent yet. */
export interface QueuedResult extends CallResult {
  status: 'queued';
}

/** Result of a payment that is being sent, after its approval or by another program. */
export interface InProgressResult extends CallResult {
  status: 'in_progress';
}

/** Result of a payment that may be paid or not. Do not pay it again. `settled()` follows it. */
export interface UnknownResult extends ResultBase {
  status: 'unknown';
  /** Undefined without an answer, or if a person must decide whether it is the call in `error`. */
  callId: string | undefined;
  error: PayoutProxyError | undefined;
}

/** Result of a payment that was not sent. The key is free: `send()` tries again with it. */
export interface NotSentResult extends ResultBase {
  status: 'not_sent';
  callId: string | undefined;
  error: ApiError | NetworkError | undefined;
}

/** Result of a payment so far. `status` distinguishes the eight kinds. */
export type PaymentResult<Answer = unknown> =
  | SucceededResult<Answer>
  | PartialResult<Answer>
  | RejectedResult
  | HeldResult
  | QueuedResult
  | InProgressResult
  | UnknownResult
  | NotSentResult;

const OPEN_STEPS: readonly unknown[] = ['wait', 'await_approval'];
const IN_DOUBT: readonly unknown[] = ['in_doubt', 'reserved', 'queued', 'held'];

/** Statuses of a provider that rejects or limits the proxy itself, not the request. The key is free. */
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

/** Returns the result of a payment from the record of its call. */
export function resultOf<Answer>(record: FullCallRecord, idempotencyKey: string): PaymentResult<Answer> {
  const { id: callId, outcome, items } = record;
  const of = { idempotencyKey, callId };
  switch (outcome) {
    case 'succeeded':
    case 'confirmed':
      return carriedOut<Answer>(record, of);
    case 'pending_approval':
      return { status: 'held', settled: false, ...of };
    case 'queued':
      return { status: 'queued', settled: false, ...of };
    case 'not_sent':
      return { status: 'not_sent', settled: true, ...of, error: undefined };
    case 'rejected':
    case 'not_executed':
      if (!saysWhy(record)) return { status: 'not_sent', settled: true, ...of, error: undefined };
      return { status: 'rejected', settled: true, ...of, items, error: providerError(record.response?.body) };
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
    default: // an outcome of a newer proxy
      return { status: 'unknown', settled: false, ...of, error: undefined };
  }
}

/** Returns whether the provider rejected the request itself, so that another attempt needs a change. */
function saysWhy({ outcome, upstream }: FullCallRecord): boolean {
  const { status = null, failure = null } = upstream ?? {};
  if (status === null || GATEWAY_REFUSALS.includes(status)) return false;
  return outcome === 'rejected' || (failure === 'unverified_rejection' && status < 500);
}

function carriedOut<Answer>(
  record: FullCallRecord,
  of: { idempotencyKey: string; callId: string },
): PaymentResult<Answer> {
  const items = record.items;
  const answer = (record.response?.body ?? undefined) as Answer | undefined;
  const payouts = items.filter(({ state }) => state !== null);
  const settled = payouts.every(({ next }) => !OPEN_STEPS.includes(next));
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

/** Returns the error in an answer of the provider. */
export function providerError(answer: unknown): ProviderError {
  const text: unknown =
    typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : undefined;
  return new ProviderError(typeof text === 'string' ? text : 'The provider rejected this request.', answer);
}
