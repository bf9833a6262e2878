import type { Attempts } from './attempts.ts';
import type { Calls } from './calls.ts';
import { ApiError, NetworkError, RetryLaterError } from './errors.ts';
import { type PaymentResult, resultOf } from './results.ts';
import { growing, orAborted, reasonOf, type Retries, sleep } from './waiting.ts';

/** How long to wait for a payment. */
export interface WaitOptions {
  /** Ends the waiting. The payment itself goes on, and can be followed again. */
  signal?: AbortSignal | undefined;
}

/** How long one look at a call waits for news, in seconds. */
const LOOK_SECONDS = 20;

/** A look that took longer has waited at the proxy. */
const WAITED_MS = 1_000;

/**
 * One payment, with one idempotency key for all its attempts. Nothing is sent before you call `send`,
 * `settled` or `follow`, so that you can store the key first.
 */
export class Payment<Body = unknown> {
  private known: PaymentResult<Body> | undefined;
  private sending: Promise<PaymentResult<Body>> | undefined;

  /**
   * @param idempotencyKey The key of the payment. Store it before you send: with it, the payment can be
   * continued, and is never made twice.
   * @param operation The name of the operation, such as `POST /payouts/airtime`.
   */
  constructor(
    readonly idempotencyKey: string,
    readonly operation: string,
    private readonly attempts: Attempts<Body>,
    private readonly calls: Calls,
    private readonly retries: Retries,
  ) {}

  /**
   * Sends the payment, and returns what the answer says about it. It is sent again with the same key where
   * that is safe and useful. If it is already known to be on record, it is looked up instead.
   */
  send({ signal }: WaitOptions = {}): Promise<PaymentResult<Body>> {
    // Whoever joins another caller has a signal of their own.
    if (this.sending) {
      return orAborted(this.sending, signal).catch((error: unknown) => {
        if (signal?.aborted) throw error;
        return this.send({ signal });
      });
    }
    this.sending = this.sendOnce(signal).finally(() => (this.sending = undefined));
    return this.sending;
  }

  /**
   * Follows the payment until its final state is on record: each payout is paid, or is certainly not.
   * @throws ApiError if a person must act before anybody can know, and the signal's reason once it is
   * aborted. Call it again later.
   */
  async settled(waiting: WaitOptions = {}): Promise<PaymentResult<Body>> {
    for await (const result of this.follow(waiting)) if (result.settled) return result;
    throw reasonOf(waiting.signal); // it ends only with a settled result
  }

  /** Yields what is known about the payment, each time it changes, until it is settled. */
  async *follow({ signal }: WaitOptions = {}): AsyncGenerator<PaymentResult<Body>, void, undefined> {
    let result = this.known ?? (await this.send({ signal }));
    yield result;
    for (let look = 1; !result.settled; look += 1) {
      const began = Date.now();
      const next = await this.news(result, signal);
      const isNews = JSON.stringify(next) !== JSON.stringify(result);
      this.known = result = next;
      if (isNews) yield result;
      else if (Date.now() - began < WAITED_MS) await sleep(growing(look, this.retries), signal);
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

  private async news(
    result: PaymentResult<Body>,
    signal: AbortSignal | undefined,
  ): Promise<PaymentResult<Body>> {
    if (result.callId === undefined) {
      // Its key tells whether it has arrived.
      const next = await this.send({ signal });
      if (next.status === 'unknown' && next.callId === undefined && needsPerson(next.error)) throw next.error;
      return next;
    }
    try {
      const record = await this.calls.get(result.callId, { wait: LOOK_SECONDS, signal });
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
