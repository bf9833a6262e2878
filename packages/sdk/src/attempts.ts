import type { Calls } from './calls.ts';
import { ApiError, NetworkError } from './errors.ts';
import { type PaymentResult, resultOf } from './results.ts';
import { Payer } from './sessions/payer.ts';
import type { Answer, Sender } from './transport.ts';
import { verdictOf } from './verdict.ts';
import { orAborted, pauseBefore, type Retries, sleep } from './waiting.ts';

/** What is stored of a payment, so that it can be continued after a crash. */
export interface StoredPayment {
  operation: string;
  idempotencyKey: string;
  /** The body, as JSON. Continue with the same one. */
  body: string;
  /** Whose payment it is. Continue with the same value. Undefined if the credential does not tell. */
  payer: string | undefined;
}

/** What a payment needs of its client. */
export interface Dependencies {
  transport: Sender;
  calls: Calls;
  retries: Retries;
  /** Stores the payment. Nothing is sent before it has ended. */
  store: ((payment: StoredPayment) => void | Promise<void>) | undefined;
}

export interface PaymentRequest extends StoredPayment {
  path: string;
  headers: Record<string, string | undefined>;
  /** Whether the caller chose the key, so that it may have been sent before. */
  mayBeRepeated: boolean;
}

/** Sends one payment, as often as needed and always with the same key. */
export class Attempts<Body> {
  /**
   * Whether an attempt had no answer. It may still arrive, so no refusal of another attempt proves that
   * nothing is paid.
   */
  private isOpen = false;
  /** Whose payment is stored. Undefined: it is not stored yet. */
  private stored: { payer: string | undefined } | undefined;
  private readonly payer: Payer;

  constructor(
    private readonly request: PaymentRequest,
    private readonly dependencies: Dependencies,
  ) {
    this.payer = new Payer(request.payer);
  }

  /** Sends the payment until an answer states its outcome, or no further attempt is worthwhile. */
  async make(signal: AbortSignal | undefined): Promise<PaymentResult<Body>> {
    for (let attempt = 1; ; attempt += 1) {
      const said = await this.attempt(signal);
      const verdict =
        said instanceof NetworkError ? said : verdictOf<Body>(said, this.request.idempotencyKey);
      if (!(verdict instanceof NetworkError)) {
        if (verdict.kind === 'result') return verdict.result;
        if (verdict.kind === 'look_up') return this.lookUp(verdict.callId, signal);
        if (verdict.kind === 'refused') return this.withoutSuccess(verdict.error, signal);
      }
      const error = verdict instanceof NetworkError ? verdict : verdict.error;
      const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
      const pause = pauseBefore(attempt, retryAfterMs, this.dependencies.retries);
      if (pause === undefined) return this.withoutSuccess(error, signal);
      await sleep(pause, signal);
    }
  }

  /** Reads the outcome of a call. If it is unreadable, the payment is unknown. */
  async lookUp(callId: string, signal: AbortSignal | undefined): Promise<PaymentResult<Body>> {
    const { idempotencyKey } = this.request;
    try {
      return resultOf<Body>(await this.dependencies.calls.get(callId, { signal }), idempotencyKey);
    } catch (error) {
      if (!isOfRequest(error)) throw error;
      return { status: 'unknown', settled: false, idempotencyKey, callId, error };
    }
  }

  /**
   * Stores the payment, and stores it again once it is known whose it is.
   * @throws NetworkError if the session cannot be read, and what `store` throws.
   */
  private async storeFirst(signal: AbortSignal | undefined): Promise<void> {
    const { store, transport } = this.dependencies;
    if (!store || this.stored?.payer !== undefined) return;
    const { operation, idempotencyKey, body } = this.request;
    const payer = this.request.payer ?? (await transport.payer(signal));
    if (this.stored && payer === undefined) return;
    await orAborted(Promise.resolve(store({ operation, idempotencyKey, body, payer })), signal);
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
      const outgoing = { method: 'POST', path, body, signal, payer: this.payer } as const;
      const all = { ...headers, 'Idempotency-Key': idempotencyKey };
      return await this.dependencies.transport.send({ ...outgoing, headers: all });
    } catch (error) {
      const isSentMaybe = error instanceof NetworkError ? error.maySent : signal?.aborted === true;
      this.isOpen ||= isSentMaybe;
      if (error instanceof NetworkError) return error;
      throw error;
    }
  }

  /**
   * The last attempt was not carried out, or had no answer. An earlier one with the same key may have been.
   */
  private async withoutSuccess(
    error: ApiError | NetworkError,
    signal: AbortSignal | undefined,
  ): Promise<PaymentResult<Body>> {
    const { idempotencyKey, mayBeRepeated } = this.request;
    const isWaiting = error instanceof ApiError && error.action === 'retry_same_key';
    const firstCallId = isWaiting ? error.firstCallId : undefined;
    const unknown = {
      status: 'unknown',
      settled: false,
      idempotencyKey,
      callId: firstCallId,
      error,
    } as const;
    if (firstCallId !== undefined) return unknown;
    if (error instanceof NetworkError && this.isOpen) return unknown;
    // The call that has the key is another payment (`new_key`), or may be this one (`ask`).
    const isOthers = error instanceof ApiError && error.code === 'idempotency_key_reused';
    if (isOthers && error.action === 'ask') return unknown;
    if (!isOthers && (this.isOpen || mayBeRepeated)) {
      const found = await this.find(signal).catch((failure: unknown) => {
        if (isOfRequest(failure)) return 'not to be read' as const;
        throw failure;
      });
      if (found === 'not to be read') return unknown;
      if (found) return found;
    }
    if (this.isOpen) return unknown;
    const nothing = { settled: true, idempotencyKey, callId: undefined } as const;
    if (error instanceof NetworkError || isWaiting) return { status: 'not_sent', ...nothing, error };
    return { status: 'rejected', ...nothing, items: undefined, error };
  }

  /**
   * Returns what the call that has the key says. Undefined if there is none: a call that was not carried out
   * leaves the key to whatever arrives next.
   */
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

/**
 * Whether an error is about a request, and not the signal's reason or a failure of the caller's own
 * functions.
 */
function isOfRequest(error: unknown): error is ApiError | NetworkError {
  return error instanceof ApiError || error instanceof NetworkError;
}
