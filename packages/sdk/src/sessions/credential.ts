import type { ApiError } from '../errors.ts';
import type { Authorize } from '../transport.ts';
import type { SessionOptions } from './session.ts';

/** A key or token, or a function that returns the present one. */
export type Credential = string | (() => string | Promise<string>);

/** What a client is authorized with: exactly one of `apiKey`, `accessToken`, `authorize` and `session`. */
export interface Credentials {
  /** A secret key of your server, or an ephemeral key that your server obtained for one person. */
  apiKey?: Credential;
  /** An access token of your company's identity provider, sent as a bearer token. */
  accessToken?: Credential;
  /** Returns the headers of each attempt, such as `Authorization: DPoP …` with a `DPoP` proof. */
  authorize?: Authorize;
  /** The session of the person who has signed in to this page. */
  session?: SessionOptions;
  /**
   * Obtains a new credential of the same person. It is called once when the present one has expired, however
   * many requests wait for it. A text that it returns replaces `apiKey` or `accessToken`.
   */
  refresh?: (error: ApiError) => string | void | Promise<string | void>;
}

/** Keys that can spend the whole cap of a client. Ephemeral keys begin with `ppe_`. */
const SECRET_KEY = /^pp_/;

const NOT_IN_PUBLIC =
  'This is a secret key, and whoever opens this page or app can read it. Let your server obtain an ' +
  'ephemeral key for ' +
  'each person, or use access tokens of your identity provider.';

const NO_COOKIES =
  'A session is a cookie of a browser, and this runtime keeps none. Use a key or an access token here.';

/**
 * Returns what authorizes requests.
 * @throws TypeError unless there is exactly one credential, if a secret key would be in a page or an app, and
 * if the runtime keeps no cookies for a session.
 */
export function authorizing(options: Credentials & { fetch?: typeof fetch }) {
  const { apiKey, accessToken, authorize, session, refresh } = options;
  if ([apiKey, accessToken, authorize, session].filter((one) => one !== undefined).length !== 1) {
    throw new TypeError('Pass exactly one of "apiKey", "accessToken", "authorize" and "session".');
  }
  if (session) {
    if (refresh)
      throw new TypeError(
        'A session is not refreshed. Leave out "refresh", and let the person sign in again.',
      );
    if (options.fetch === undefined) requireCookies();
    return { authorize: () => ({}), refresh: undefined };
  }
  let renewed: string | undefined;
  const credential = apiKey ?? accessToken;
  const present = async () =>
    requireText(renewed ?? (typeof credential === 'function' ? await credential() : credential));
  if (typeof credential === 'string') requireText(credential);
  if (typeof apiKey === 'string') requirePrivate(apiKey);
  return {
    authorize:
      authorize ??
      (async (): Promise<Record<string, string>> => {
        const text = await present();
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

/**
 * Another `fetch` may keep cookies. That of Node.js and its kin does not, and a window or a worker of a page
 * does.
 */
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

/**
 * An empty credential is a variable that is not set. A proxy would take the request for one without a
 * credential.
 */
function requireText(credential: string | undefined): string {
  if (typeof credential === 'string' && credential.trim() !== '') return credential;
  throw new TypeError('The credential is empty. Check the variable or function that it comes from.');
}

function requirePrivate(key: string): void {
  const { document, navigator } = globalThis as { document?: unknown; navigator?: { product?: string } };
  const isPublic = document !== undefined || navigator?.product === 'ReactNative';
  if (isPublic && SECRET_KEY.test(key)) throw new TypeError(NOT_IN_PUBLIC);
}
