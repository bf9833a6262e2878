import { AuthenticationError, NetworkError } from '../errors.ts';
import type { Answer, Outgoing, Sender } from '../transport.ts';
import type { PageSession } from '../types.ts';
import { orAborted } from '../waiting.ts';

/** The refusals of a session that is not, or no longer, the one that the cookie stands for. */
const OF_ANOTHER_SESSION: readonly (string | undefined)[] = ['csrf', 'missing_key'];

const SOMEBODY_ELSE =
  'Another person has signed in, such as in another tab. This request was not sent for them. Reload the ' +
  'page, or make a ' +
  'new client.';

/** Returns the route of a client's session. */
export const pathOfSession = (client: string) => `/v1/page-sessions/${encodeURIComponent(client)}`;

/** Sends requests by the session of one person, whose cookie the browser adds. */
export class SessionTransport implements Sender {
  /** The token of the session that was read last. Undefined if it is to be read first. */
  private csrfToken: string | undefined;
  /** The first person who was signed in. */
  private personId: string | undefined;
  /** The reading that is under way. Requests that need one meanwhile wait for it. */
  private reading: Promise<Answer> | undefined;

  constructor(
    private readonly transport: Sender,
    private readonly client: string,
  ) {}

  /**
   * Sends a request. If its CSRF token is of another session, the session is read once more and the request
   * is sent again. This is safe for payments, too:
   *
   * - The proxy checks the token before it looks at the request. It has then recorded and reserved nothing,
   *   and sent nothing to the provider.
   * - The payment has the same idempotency key as before. A key belongs to a person: for somebody else it
   *   would be another key, and another payment. So nothing is sent for anybody but the first person.
   *
   * @throws NetworkError if there is no answer of the proxy, PayoutProxyError if it is another person's
   * payment, or the signal's reason.
   */
  async send(outgoing: Outgoing): Promise<Answer> {
    if (this.csrfToken !== undefined) {
      const answer = await this.sendWith(this.csrfToken, outgoing);
      if (!OF_ANOTHER_SESSION.includes(answer.error?.code)) return answer;
    }
    const read = await this.read(outgoing.signal).catch(notSent);
    if (read.error) return read;
    const { csrf_token, person_id } = read.body as PageSession;
    if (person_id !== this.personId) return { ...read, error: somebodyElse(read.callId) };
    return this.sendWith(csrf_token, outgoing);
  }

  async payer(signal: AbortSignal | undefined): Promise<string | undefined> {
    if (this.personId === undefined) await this.read(signal).catch(notSent);
    return this.personId;
  }

  /** Reads the session, which needs no token. */
  read(signal: AbortSignal | undefined): Promise<Answer> {
    this.reading ??= this.transport
      .send({ method: 'GET', path: pathOfSession(this.client) })
      .then((answer) => this.remember(answer))
      .finally(() => (this.reading = undefined));
    return orAborted(this.reading, signal);
  }

  /** Sends the request that ends the session, whoever is signed in by now. */
  async end(outgoing: Outgoing): Promise<Answer> {
    const read = await this.read(outgoing.signal);
    return read.error ? read : this.sendWith((read.body as PageSession).csrf_token, outgoing);
  }

  private remember(answer: Answer): Answer {
    if (answer.error) return answer;
    const { csrf_token, person_id } = answer.body as PageSession;
    this.personId ??= person_id;
    this.csrfToken = person_id === this.personId ? csrf_token : undefined;
    return answer;
  }

  private async sendWith(csrfToken: string, { payer, ...outgoing }: Outgoing): Promise<Answer> {
    payer?.requireSame(this.personId);
    return this.transport.send({ ...outgoing, headers: { ...outgoing.headers, 'X-CSRF-Token': csrfToken } });
  }
}

/** No answer to the reading of the session says nothing about the request, which was not sent. */
function notSent(error: unknown): never {
  throw error instanceof NetworkError ? new NetworkError(error.message, false, error) : error;
}

function somebodyElse(callId: string): AuthenticationError {
  return new AuthenticationError({
    code: 'session_ended',
    action: 'ask',
    error: SOMEBODY_ELSE,
    call_id: callId,
  });
}
