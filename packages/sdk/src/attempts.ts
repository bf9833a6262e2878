import type { Calls } from './calls.ts';
import { ApiError, NetworkError } from './errors.ts';
import { type PaymentResult, resultOf } from './results.ts';
import { Payer } from './sessions/payer.ts';
import type { Answer, Sender } from './transport/transport.ts';
import { abortable, Pauses, type Retries, sleep } from './transport/waiting.ts';

/** The data that continues a payment after a crash. */
export interface StoredPayment {
  /** Name of the operation, such as `POST /payouts/airtime`. */
  operation: string;
  /** Key to pass as `idempotencyKey`. */
  idempotencyKey: string;
  /** Body as JSON. Pass the same body. */
  body: string;
  /** Person to pass as `payer`. Undefined for keys, and while the session is unread. */
  payer: string | undefined;
}

/** The parts of the client that a payment uses. */
export interface AttemptDependencies {
  transport: Sender;
  calls: Calls;
  retries: Retries;
  /** Stores the payment. Nothing is sent before it resolves. */
  store: ((payment: StoredPayment) => void | Promise<void>) | undefined;
}

/** The request that all attempts of a payment send. */
export interface PaymentRequest extends StoredPayment {
  path: string;
  headers: Record<string, string | undefined>;
  /** Whether the caller chose the key, so that an earlier process may have sent it. */
  mayBeRepeated: boolean;
}

/** Sends one payment, as often as needed, always with the same key. */
export class Attempts<Body> {
  /**
   * Whether an attempt had no answer. It may still arrive, so a rejection of another attempt does not prove
   * that nothing is paid. See docs/apps/sdk.md.
   */
  private isOpen = false;
  /** Person of the stored payment. Undefined until it is stored. */
  private stored: { payer: string | undefined } | undefined;
  private readonly payer: Payer;

  constructor(
    private readonly request: PaymentRequest,
    private readonly dependencies: AttemptDependencies,
  ) {
    this.payer = new Payer(request.payer);
  }

  /** Sends the payment until an answer states its outcome, or the retries are used up. */
  async make(signal: AbortSignal | undefined): Promise<PaymentResult<Body>> {
    const pauses = new Pauses(this.dependencies.retries);
    for (;;) {
      const answer = await this.attempt(signal);
      const verdict =
        answer instanceof NetworkError ? answer : verdictOf<Body>(answer, this.request.idempotencyKey);
      if (!(verdict instanceof NetworkError)) {
        if (verdict.kind === 'result') return verdict.result;
        if (verdict.kind === 'look_up') return this.lookUp(verdict.callId, signal);
        if (verdict.kind === 'refused') return this.withoutSuccess(verdict.error, signal);
      }
      const error = verdict instanceof NetworkError ? verdict : verdict.error;
      const pause = pauses.after(error);
      if (pause === undefined) return this.withoutSuccess(error, signal);
      await sleep(pause, signal);
    }
  }

  /** Reads the outcome of a call. A failed read leaves the payment `unknown`. */
  async lookUp(callId: string, signal: AbortSignal | undefined): Promise<PaymentResult<Body>> {
    const { idempotencyKey } = this.request;
    try {
      return resultOf<Body>(await this.dependencies.calls.get(callId, { signal }), idempotencyKey);
    } catch (error) {
      if (!isRequestError(error)) throw error;
      return { status: 'unknown', settled: false, idempotencyKey, callId, error };
    }
  }

  /**
   * Stores the payment, and stores it again once its person is known.
   * @throws NetworkError if the session cannot be read, and the error of `store`.
   */
  private async storeFirst(signal: AbortSignal | undefined): Promise<void> {
    const { store, transport } = this.dependencies;
    if (!store || this.stored?.payer !== undefined) return;
    const { operation, idempotencyKey, body } = this.request;
    const payer = this.request.payer ?? (await transport.payer(signal));
    if (this.stored && payer === undefined) return;
    await abortable(Promise.resolve(store({ operation, idempotencyKey, body, payer })), signal);
    this.stored = { payer };
  }

  private async attempt(signal: AbortSignal | undefined): Promise<Answer | NetworkError> {
    const { path, body, headers, idempotencyKey } = this.request;
    try {
      await this.storeFirst(signal);
    } catch (error) {
      if (error instanceof NetworkError) return error;
      throw error;
    }
    try {
      const request = { method: 'POST', path, body, signal, payer: this.payer } as const;
      const withKey = { ...headers, 'Idempotency-Key': idempotencyKey };
      return await this.dependencies.transport.send({ ...request, headers: withKey });
    } catch (error) {
      const maySent = error instanceof NetworkError ? error.maySent : signal?.aborted === true;
      this.isOpen ||= maySent;
      if (error instanceof NetworkError) return error;
      throw error;
    }
  }

  /** Returns the result after a last attempt that was not carried out or had no answer. */
  private async withoutSuccess(
    error: ApiError | NetworkError,
    signal: AbortSignal | undefined,
  ): Promise<PaymentResult<Body>> {
    const { idempotencyKey, mayBeRepeated } = this.request;
    const isRetryable = error instanceof ApiError && error.action === 'retry_same_key';
    const callId = isRetryable ? error.firstCallId : undefined;
    const unknown = { status: 'unknown', settled: false, idempotencyKey, callId, error } as const;
    if (callId !== undefined) return unknown;
    if (error instanceof NetworkError && this.isOpen) return unknown;
    // The call with the key is another payment (`new_key`), or may be this one (`ask`).
    const isKeyReused = error instanceof ApiError && error.code === 'idempotency_key_reused';
    if (isKeyReused && error.action === 'ask') return unknown;
    if (!isKeyReused && (this.isOpen || mayBeRepeated)) {
      const found = await this.find(signal).catch((failure: unknown) => {
        if (isRequestError(failure)) return 'unreadable' as const;
        throw failure;
      });
      if (found === 'unreadable') return unknown;
      if (found) return found;
    }
    if (this.isOpen) return unknown;
    const nothing = { settled: true, idempotencyKey, callId: undefined } as const;
    if (error instanceof NetworkError || isRetryable) return { status: 'not_sent', ...nothing, error };
    return { status: 'rejected', ...nothing, items: undefined, error };
  }

  /** Returns the result of the call with the key. Undefined without a call that was carried out. */
  private async find(signal: AbortSignal | undefined): Promise<PaymentResult<Body> | undefined> {
    const { operation, idempotencyKey } = this.request;
    for await (const { id, outcome } of this.dependencies.calls.list({ idempotencyKey, operation, signal })) {
      if (outcome === 'refused') continue;
      const result = resultOf<Body>(await this.dependencies.calls.get(id, { signal }), idempotencyKey);
      if (result.status !== 'not_sent') return result;
    }
    return undefined;
  }
}

/** Returns whether a request failed, and not the caller's signal or functions. */
function isRequestError(error: unknown): error is ApiError | NetworkError {
  return error instanceof ApiError || error instanceof NetworkError;
}

/** The meaning of an answer for its payment. */
type Verdict<Body> =
  /** The answer states the outcome. */
  | { kind: 'result'; result: PaymentResult<Body> }
  /** The record of this call states the outcome. */
  | { kind: 'look_up'; callId: string; error?: ApiError }
  /** This attempt was not carried out, and may be repeated. */
  | { kind: 'again'; error: ApiError }
  /** This attempt was rejected. */
  | { kind: 'refused'; error: ApiError };

/** Codes about the call with the key, and not only about this attempt. */
const FIRST_CALL_CODES: readonly string[] = ['approval_rejected', 'approval_expired', 'answer_erased'];

const NO_ERROR = 'None';

/** Interprets an answer by its `code` and `action`, or by the interface's envelope, not by its status. */
function verdictOf<Body>({ body, callId, error }: Answer, idempotencyKey: string): Verdict<Body> {
  if (error) return verdictOfError(error, idempotencyKey);
  const { status, data } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (status === 'pending_approval') {
    return { kind: 'result', result: { status: 'held', settled: false, idempotencyKey, callId } };
  }
  if (status === 'queued')
    return { kind: 'result', result: { status: 'queued', settled: false, idempotencyKey, callId } };
  // A provider error leaves open whether it paid, and a success with an error text which payouts.
  if (status !== 'success' || hasErrorText(data)) return { kind: 'look_up', callId };
  const of = { idempotencyKey, callId, items: undefined };
  return { kind: 'result', result: { status: 'succeeded', settled: false, ...of, answer: body as Body } };
}

function verdictOfError<Body>(error: ApiError, idempotencyKey: string): Verdict<Body> {
  const { action, code, firstCallId, callId } = error;
  // `firstCallId` is another payment, which must not be followed in place of this one.
  if (code === 'suspected_duplicate') return { kind: 'refused', error };
  const of = { idempotencyKey, callId: firstCallId ?? callId, error };
  if (action === 'wait') return { kind: 'result', result: { status: 'unknown', settled: false, ...of } };
  if (action === 'retry_same_key') return { kind: 'again', error };
  if (!FIRST_CALL_CODES.includes(code)) return { kind: 'refused', error };
  return { kind: 'result', result: { status: 'rejected', settled: true, ...of, items: undefined } };
}

function hasErrorText(data: unknown): boolean {
  const text: unknown = typeof data === 'object' && data !== null && 'error' in data ? data.error : undefined;
  return text !== undefined && text !== null && text !== NO_ERROR;
}
