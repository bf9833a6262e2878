import { ApiError } from '../errors.ts';
import { Reader, type ReadOptions } from '../transport/reader.ts';
import type { Retries } from '../transport/waiting.ts';
import type { EndedPageSession, PageSession } from '../types.ts';
import { pathOfSession, type SessionTransport } from './session-transport.ts';

/** The session of a page. */
export interface SessionOptions {
  /** Name of the proxy's client that the page belongs to. */
  client: string;
}

/**
 * Signs people in to a page and out of it. The browser holds a cookie that no script can read.
 * @example
 * if ((await client.session.read()) === undefined) location.assign(client.session.signInUrl(location.href));
 */
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

  /** Reads the session. Undefined without a signed-in person. */
  async read({ signal }: ReadOptions = {}): Promise<PageSession | undefined> {
    const path = pathOfSession(this.options.client);
    const answer = await this.reading.read({ method: 'GET', path, signal }).catch(undefinedIfEnded);
    return answer?.body as PageSession | undefined;
  }

  /**
   * Returns the address for the sign-in, which leads to the provider and back to `returnTo`.
   * @param returnTo full address of a page of the client, such as `location.href`.
   * @throws TypeError for a relative address.
   */
  signInUrl(returnTo: string | URL): string {
    const client = encodeURIComponent(this.options.client);
    const query = new URLSearchParams({ return_to: new URL(returnTo).href });
    return `${this.baseUrl}/session/pages/${client}/sign-in?${query.toString()}`;
  }

  /**
   * Ends the session of the page.
   * @param returnTo address of a page that the provider opens after the sign-out there.
   * @returns the address for the sign-out at the provider, or null. If it is not opened, the next user of the
   * browser may be signed in without a password.
   */
  async signOut({ returnTo, signal }: ReadOptions & { returnTo?: string | URL } = {}): Promise<
    string | null
  > {
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
