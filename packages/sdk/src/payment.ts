import type { Attempts } from './attempts.ts';
import type { Calls } from './calls.ts';
import { ApiError, NetworkError, RetryLaterError } from './errors.ts';
import { type PaymentResult, resultOf } from './results.ts';
import { backoff, abortable, reasonOf, type Retries, sleep } from './transport/waiting.ts';

/** Options of the functions that wait for a payment. */
export interface WaitOptions {
  /** Signal that ends the waiting. The payment continues, and you can follow it again. */
  signal?: AbortSignal | undefined;
}

/** Time that the proxy waits for a change in one poll, in seconds. */
const POLL_SECONDS = 20;

/** A longer poll has waited at the proxy, so the next one follows without a pause. */
const LONG_POLL_MS = 1_000;

/**
 * One payment, with one idempotency key for all its attempts. `send`, `settled` and `follow` send it. Store
 * the key first.
 * @example
 * const payment = client.payouts.airtime(body);
 * await database.set('order-17', { key: payment.idempotencyKey, body, payer: await client.payer() });
 * const result = await payment.settled();
 */
export class Payment<Body = unknown> {
  private known: PaymentResult<Body> | undefined;
  private sending: Promise<PaymentResult<Body>> | undefined;

  /**
   * @param idempotencyKey key of the payment. Store it before you send, to continue after a crash.
   * @param operation name of the operation, such as `POST /payouts/airtime`.
   */
  constructor(
    readonly idempotencyKey: string,
    readonly operation: string,
    private readonly attempts: Attempts<Body>,
    private readonly calls: Calls,
    private readonly retries: Retries,
  ) {}

  /**
   * Sends the payment, and returns its result so far. Retries with the same key where that is safe. Reads the
   * call of a payment on record instead.
   * @throws the signal's reason, and errors of your `store`, `authorize` and `refresh`. Failed requests are
   * the `error` of the result.
   */
  send({ signal }: WaitOptions = {}): Promise<PaymentResult<Body>> {
    // The signal of another caller must not end this one.
    if (this.sending) {
      return abortable(this.sending, signal).catch((error: unknown) => {
        if (signal?.aborted) throw error;
        return this.send({ signal });
      });
    }
    this.sending = this.sendOnce(signal).finally(() => (this.sending = undefined));
    return this.sending;
  }

  /**
   * Sends the payment and follows it until it is settled: each payout is paid, or certainly not.
   * @throws ApiError if a person must act first, and the signal's reason. Call it again later.
   * @example
   * const result = await payment.settled({ signal: AbortSignal.timeout(60_000) });
   */
  async settled(waiting: WaitOptions = {}): Promise<PaymentResult<Body>> {
    for await (const result of this.follow(waiting)) if (result.settled) return result;
    throw reasonOf(waiting.signal); // unreachable: `follow` ends with a settled result
  }

  /**
   * Sends the payment, and yields its result at each change until it is settled.
   * @throws as `settled` does.
   * @example
   * for await (const { status, settled } of payment.follow()) render(status, settled);
   */
  async *follow({ signal }: WaitOptions = {}): AsyncGenerator<PaymentResult<Body>, void, undefined> {
    let result = this.known ?? (await this.send({ signal }));
    yield result;
    for (let poll = 1; !result.settled; poll += 1) {
      const start = Date.now();
      const next = await this.poll(result, signal);
      const hasChanged = JSON.stringify(next) !== JSON.stringify(result);
      this.known = result = next;
      if (hasChanged) yield result;
      else if (Date.now() - start < LONG_POLL_MS) await sleep(backoff(poll, this.retries), signal);
    }
  }

  private async sendOnce(signal: AbortSignal | undefined): Promise<PaymentResult<Body>> {
    if (signal?.aborted) throw reasonOf(signal);
    const { known } = this;
    const callId = known?.status === 'not_sent' ? undefined : known?.callId;
    this.known = await (callId === undefined
      ? this.attempts.make(signal)
      : this.attempts.lookUp(callId, signal));
    return this.known;
  }

  private async poll(
    result: PaymentResult<Body>,
    signal: AbortSignal | undefined,
  ): Promise<PaymentResult<Body>> {
    if (result.callId === undefined) {
      const next = await this.send({ signal });
      if (next.status === 'unknown' && next.callId === undefined && needsPerson(next.error)) throw next.error;
      return next;
    }
    try {
      const record = await this.calls.get(result.callId, { wait: POLL_SECONDS, signal });
      return resultOf(record, this.idempotencyKey);
    } catch (error) {
      if (error instanceof NetworkError || error instanceof RetryLaterError) return result;
      throw error;
    }
  }
}

function needsPerson(error: Error | undefined): error is ApiError {
  return error instanceof ApiError && error.action !== 'retry_same_key';
}
