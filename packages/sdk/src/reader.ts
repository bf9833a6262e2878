import { ApiError, NetworkError } from './errors.ts';
import type { Answer, Outgoing, Sender } from './transport.ts';
import { pauseBefore, type Retries, sleep } from './waiting.ts';

/** Sends requests that change nothing. They may be repeated at any time. */
export class Reader {
  constructor(
    private readonly transport: Pick<Sender, 'send'>,
    private readonly retries: Retries,
  ) {}

  /**
   * Sends a request, and repeats it while the proxy is busy or does not answer.
   * @throws ApiError or NetworkError of the last attempt, or the signal's reason.
   */
  async read(outgoing: Outgoing): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const said = await this.attempt(outgoing);
      if (!(said instanceof Error)) return said;
      const pause = isWorthwhile(said) ? pauseBefore(attempt, retryAfterOf(said), this.retries) : undefined;
      if (pause === undefined) throw said;
      await sleep(pause, outgoing.signal);
    }
  }

  private async attempt(outgoing: Outgoing): Promise<Answer | ApiError | NetworkError> {
    try {
      const answer = await this.transport.send(outgoing);
      return answer.error ?? answer;
    } catch (error) {
      if (error instanceof NetworkError) return error;
      throw error;
    }
  }
}

/** Some errors of reads, such as `not_sealed`, say `wait` and for how long. */
function isWorthwhile(error: ApiError | NetworkError): boolean {
  if (error instanceof NetworkError) return true;
  return error.action === 'retry_same_key' || (error.action === 'wait' && error.retryAfterMs !== undefined);
}

const retryAfterOf = (error: ApiError | NetworkError) =>
  error instanceof ApiError ? error.retryAfterMs : undefined;
