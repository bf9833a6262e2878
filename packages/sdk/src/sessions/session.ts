import { ApiError } from '../errors.ts';
import { Reader } from '../reader.ts';
import type { EndedPageSession, PageSession } from '../types.ts';
import type { Retries } from '../waiting.ts';
import { pathOfSession, type SessionTransport } from './session-transport.ts';

/** Which session a page uses. */
export interface SessionOptions {
  /** The name of the proxy's client whose page this is. */
  client: string;
}

interface Asking {
  signal?: AbortSignal | undefined;
}

/** Signs people in to a page and out of it. The browser holds a cookie, which no script can read. */
export class Session {
  private readonly reading: Reader;
  private readonly ending: Reader;

  constructor(
    private readonly options: SessionOptions,
    private readonly baseUrl: string,
    transport: SessionTransport,
    retries: Retries,
  ) {
    this.reading = new Reader({ send: ({ signal }) => transport.read(signal) }, retries);
    this.ending = new Reader({ send: (outgoing) => transport.end(outgoing) }, retries);
  }

  /** Returns the session, or undefined if nobody is signed in. */
  async read({ signal }: Asking = {}): Promise<PageSession | undefined> {
    const path = pathOfSession(this.options.client);
    const answer = await this.reading.read({ method: 'GET', path, signal }).catch(undefinedIfEnded);
    return answer?.body as PageSession | undefined;
  }

  /**
   * Returns the address at which the person signs in: open it in this tab. It leads to the provider and from
   * there to `returnTo`.
   * @param returnTo the full address of a page of the client, such as `location.href`.
   */
  signInUrl(returnTo: string | URL): string {
    const query = new URLSearchParams({ return_to: new URL(returnTo).href });
    return `${this.baseUrl}/session/pages/${encodeURIComponent(this.options.client)}/sign-in?${query.toString()}`;
  }

  /**
   * Ends the session here.
   * @param returnTo where the provider leads to after the sign-out there.
   * @returns the address at which the person signs out at the provider, too, or null if there is nothing to
   * do. Without it, whoever uses the browser next may be signed in again without a password.
   */
  async signOut({ returnTo, signal }: Asking & { returnTo?: string | URL } = {}): Promise<string | null> {
    const path = pathOfSession(this.options.client);
    const query = { return_to: returnTo === undefined ? undefined : new URL(returnTo).href };
    const answer = await this.ending.read({ method: 'DELETE', path, query, signal }).catch(undefinedIfEnded);
    return answer === undefined ? null : (answer.body as EndedPageSession).end_session_url;
  }
}

function undefinedIfEnded(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'session_ended') return undefined;
  throw error;
}
