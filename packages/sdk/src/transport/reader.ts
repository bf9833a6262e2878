import { ApiError, NetworkError } from '../errors.ts';
import type { Answer, OutgoingRequest, Sender } from './transport.ts';
import { Pauses, type Retries, sleep } from './waiting.ts';

/** Options of a read. */
export interface ReadOptions {
  /** Signal that ends the read with its reason. */
  signal?: AbortSignal | undefined;
}

/** Sends requests that may be repeated at any time. */
export class Reader {
  constructor(
    private readonly transport: Pick<Sender, 'send'>,
    private readonly retries: Retries,
  ) {}

  /**
   * Sends a request, and repeats it while the proxy is busy or does not answer.
   * @throws ApiError or NetworkError of the last attempt, or the signal's reason.
   */
  async read(outgoing: OutgoingRequest): Promise<Answer> {
    const pauses = new Pauses(this.retries);
    for (;;) {
      const answer = await this.attempt(outgoing);
      if (!(answer instanceof Error)) return answer;
      const pause = isRetryable(answer) ? pauses.after(answer) : undefined;
      if (pause === undefined) throw answer;
      await sleep(pause, outgoing.signal);
    }
  }

  private async attempt(outgoing: OutgoingRequest): Promise<Answer | ApiError | NetworkError> {
    try {
      const answer = await this.transport.send(outgoing);
      return answer.error ?? answer;
    } catch (error) {
      if (error instanceof NetworkError) return error;
      throw error;
    }
  }
}

/** Returns whether to retry a read. Some errors, such as `not_sealed`, have `wait` and a `Retry-After`. */
function isRetryable(error: ApiError | NetworkError): boolean {
  if (error instanceof NetworkError) return true;
  return error.action === 'retry_same_key' || (error.action === 'wait' && error.retryAfterMs !== undefined);
}
