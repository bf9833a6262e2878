import { AuthenticationError, NetworkError } from '../errors.ts';
import type { Answer, OutgoingRequest, Sender } from '../transport/transport.ts';
import { abortable } from '../transport/waiting.ts';
import type { PageSession } from '../types.ts';

/** Codes of a CSRF token that does not belong to the session of the cookie. */
const OTHER_SESSION_CODES: readonly (string | undefined)[] = ['csrf', 'missing_key'];

const PERSON_CHANGED =
  'Another person has signed in, for example in another tab. This request was not sent. Reload the page, ' +
  'or make a new client.';

/** Returns the route of a client's session. */
export const pathOfSession = (client: string) => `/v1/page-sessions/${encodeURIComponent(client)}`;

/** Sends requests in the session of one person. The browser adds the cookie. */
export class SessionTransport implements Sender {
  /** CSRF token of the session. Undefined until the session is read. */
  private csrfToken: string | undefined;
  /** First signed-in person. */
  private personId: string | undefined;
  /** Read of the session in progress, which all requests share. */
  private reading: Promise<Answer> | undefined;

  constructor(
    private readonly transport: Sender,
    private readonly client: string,
  ) {}

  /**
   * Sends a request. If its CSRF token is of another session, the session is read once more and the request
   * is sent again. This is safe for payments, too:
   *
   * - The proxy checks the token before the request. It has recorded, reserved and sent nothing.
   * - The payment keeps its idempotency key. A key belongs to a person, so nothing is sent for another one.
   *
   * @throws NetworkError without an answer of the proxy, PayoutProxyError for the payment of another person,
   * or the signal's reason.
   */
  async send(outgoing: OutgoingRequest): Promise<Answer> {
    if (this.csrfToken !== undefined) {
      const answer = await this.sendWith(this.csrfToken, outgoing);
      if (!OTHER_SESSION_CODES.includes(answer.error?.code)) return answer;
    }
    const read = await this.read(outgoing.signal).catch(notSent);
    if (read.error) return read;
    const { csrf_token, person_id } = read.body as PageSession;
    if (person_id !== this.personId) return { ...read, error: personChanged(read.callId) };
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
    return abortable(this.reading, signal);
  }

  /** Ends the current session, also of another person than the first. */
  async end(outgoing: OutgoingRequest): Promise<Answer> {
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

  private async sendWith(csrfToken: string, { payer, ...outgoing }: OutgoingRequest): Promise<Answer> {
    payer?.requireSame(this.personId);
    return this.transport.send({ ...outgoing, headers: { ...outgoing.headers, 'X-CSRF-Token': csrfToken } });
  }
}

/** Rethrows a failed read of the session: the request itself was not sent. */
function notSent(error: unknown): never {
  throw error instanceof NetworkError ? new NetworkError(error.message, false, error) : error;
}

function personChanged(callId: string): AuthenticationError {
  return new AuthenticationError({
    code: 'session_ended',
    action: 'ask',
    error: PERSON_CHANGED,
    call_id: callId,
  });
}
