import type { ApiError } from '../errors.ts';
import type { Authorize } from '../transport/transport.ts';
import type { SessionOptions } from './session.ts';

/** A key or token, or a function that returns the current one. */
export type Credential = string | (() => string | Promise<string>);

/** The credential of a client: exactly one of `apiKey`, `accessToken`, `authorize` and `session`. */
export interface Credentials {
  /** Secret key of your server, or ephemeral key for one person. */
  apiKey?: Credential;
  /** Access token of your company's identity provider, sent as a bearer token. */
  accessToken?: Credential;
  /** Function for the headers of each attempt, such as `Authorization: DPoP …` with a `DPoP` proof. */
  authorize?: Authorize;
  /** Session of the person who has signed in to this page. */
  session?: SessionOptions;
  /**
   * Function that obtains a new credential of the same person. It is called once per expiry, for all waiting
   * requests. A returned text replaces `apiKey` or `accessToken`.
   */
  refresh?: (error: ApiError) => string | void | Promise<string | void>;
}

/** Prefix of keys that can spend the whole cap of a client. Ephemeral keys begin with `ppe_`. */
const SECRET_KEY = /^pp_/;

const NOT_IN_PUBLIC =
  'This is a secret key, which every visitor of this page or app could read. Let your server obtain an ' +
  'ephemeral key for each person, or use access tokens of your identity provider.';

const NO_COOKIES =
  'A session is a cookie of a browser, and this runtime keeps none. Use a key or an access token here.';

/**
 * Returns the functions that authorize requests.
 * @throws TypeError without exactly one credential, for a secret key in a page or app, and for a session in a
 * runtime without cookies.
 */
export function authorizing(options: Credentials & { fetch?: typeof fetch }) {
  const { apiKey, accessToken, authorize, session, refresh } = options;
  if ([apiKey, accessToken, authorize, session].filter((value) => value !== undefined).length !== 1) {
    throw new TypeError('Pass exactly one of "apiKey", "accessToken", "authorize" and "session".');
  }
  if (session) {
    if (refresh)
      throw new TypeError('A session is not refreshed. Omit "refresh", and let the person sign in again.');
    if (options.fetch === undefined) requireCookies();
    return { authorize: () => ({}), refresh: undefined };
  }
  let renewed: string | undefined;
  const credential = apiKey ?? accessToken;
  const current = async () =>
    requireText(renewed ?? (typeof credential === 'function' ? await credential() : credential));
  if (typeof credential === 'string') requireText(credential);
  if (typeof apiKey === 'string') requirePrivate(apiKey);
  return {
    authorize:
      authorize ??
      (async (): Promise<Record<string, string>> => {
        const text = await current();
        if (apiKey === undefined) return { Authorization: `Bearer ${text}` };
        requirePrivate(text);
        return { 'X-API-Key': text };
      }),
    refresh:
      refresh &&
      (async (error: ApiError) => {
        const text = await refresh(error);
        if (typeof text === 'string') renewed = requireText(text);
      }),
  };
}

/** Requires the window or worker of a page: the `fetch` of Node.js keeps no cookies. */
function requireCookies(): void {
  const { document, WorkerGlobalScope, process } = globalThis as {
    document?: unknown;
    WorkerGlobalScope?: unknown;
    process?: { versions?: { node?: string } };
  };
  const isServer =
    process?.versions?.node !== undefined && document === undefined && WorkerGlobalScope === undefined;
  if (isServer) throw new TypeError(NO_COOKIES);
}

/** Requires a text. An empty one is usually an unset variable. */
function requireText(credential: string | undefined): string {
  if (typeof credential === 'string' && credential.trim() !== '') return credential;
  throw new TypeError('The credential is empty. Check the variable or function that it comes from.');
}

function requirePrivate(key: string): void {
  const { document, navigator } = globalThis as { document?: unknown; navigator?: { product?: string } };
  const isPublic = document !== undefined || navigator?.product === 'ReactNative';
  if (isPublic && SECRET_KEY.test(key)) throw new TypeError(NOT_IN_PUBLIC);
}
