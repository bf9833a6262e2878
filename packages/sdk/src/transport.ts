import { type ApiError, isErrorBody, NetworkError, toApiError } from './errors.ts';
import { holderOf, type Payer, personOfToken } from './sessions/payer.ts';
import { LONGEST_TIMER_MS, orAborted, reasonOf } from './waiting.ts';

/** What a request is authorized with. */
export interface RequestToAuthorize {
  method: 'GET' | 'POST' | 'DELETE';
  /** The address without its query, as a DPoP proof names it in `htu`. */
  url: string;
}

/**
 * Returns the headers that authorize a request. It is called for each attempt, because a DPoP proof is good
 * for one.
 */
export type Authorize = (
  request: RequestToAuthorize,
) => Record<string, string> | Promise<Record<string, string>>;

export interface TransportOptions {
  /** Without a slash at its end. */
  baseUrl: string;
  fetch: typeof fetch;
  authorize: Authorize;
  /** Obtains a new credential. */
  refresh: ((error: ApiError) => void | Promise<void>) | undefined;
  /** Whether the browser adds its cookies. */
  credentials: 'omit' | 'include';
  timeoutMs: number;
}

export interface Outgoing {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined> | undefined;
  /** JSON text. */
  body?: string | undefined;
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal | undefined;
  /** On top of the usual time, for requests that wait on purpose. */
  extraMs?: number;
  /** Whose payment it is. Undefined for requests that pay nothing. */
  payer?: Payer;
}

/** An answer of the proxy, whole. */
export interface Answer {
  /** JSON, or the text if it is none. */
  body: unknown;
  /** The call that this answer is about. */
  callId: string;
  /** Undefined unless the proxy wrote this answer and it is an error. */
  error: ApiError | undefined;
}

/** Sends requests. */
export interface Sender {
  /** @throws NetworkError if there is no answer of the proxy, or the signal's reason. */
  send(outgoing: Outgoing): Promise<Answer>;

  /**
   * Tells for whom requests are sent now. Undefined if the credential does not tell, or nobody is signed in.
   * @throws NetworkError if the session cannot be read, or the signal's reason.
   */
  payer(signal: AbortSignal | undefined): Promise<string | undefined>;
}

/**
 * The codes of a credential whose time is over. With a new one, the same request may be accepted
 * (`fix_request`).
 */
const EXPIRED: readonly string[] = ['token_expired', 'ephemeral_key_ended'];

/**
 * Node's codes of faults before the first byte: no address, no connection, or no certificate that can be
 * trusted. A browser tells none.
 */
const BEFORE_FIRST_BYTE =
  /^(ERR_INVALID_URL|ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_\w+|ERR_SSL_WRONG_VERSION_NUMBER|CERT_\w+|UNABLE_TO_\w+|\w+_SIGNED_CERT(_IN_CHAIN)?)$/;

/** Sends single requests. */
export class Transport implements Sender {
  /** The refresh that is under way. Requests that fail meanwhile wait for it. */
  private refreshing: Promise<void> | undefined;
  /** How often the credential was renewed. */
  private renewals = 0;

  constructor(private readonly options: TransportOptions) {}

  /**
   * Sends a request. If the credential has expired, it is renewed once and the request is sent again: a
   * request without a valid credential is refused before anything else.
   * @throws NetworkError if there is no answer of the proxy, PayoutProxyError if it is another person's
   * payment, TypeError if a header cannot be sent, or the signal's reason.
   */
  async send(outgoing: Outgoing): Promise<Answer> {
    const { refresh } = this.options;
    const { renewals } = this;
    const answer = await this.attempt(outgoing);
    const { error } = answer;
    if (!refresh || error?.action !== 'fix_request' || !EXPIRED.includes(error.code)) return answer;
    if (this.renewals === renewals) {
      const renewing = this.renew(() => refresh(error));
      await orAborted(renewing, outgoing.signal);
    }
    return this.attempt(outgoing);
  }

  async payer(signal: AbortSignal | undefined): Promise<string | undefined> {
    const { authorize, baseUrl } = this.options;
    const authorized = await orAborted(Promise.resolve(authorize({ method: 'GET', url: baseUrl })), signal);
    return personOfToken(new Headers(authorized).get('Authorization'));
  }

  private renew(refresh: () => void | Promise<void>): Promise<void> {
    this.refreshing ??= Promise.resolve()
      .then(refresh)
      .then(() => void (this.renewals += 1))
      .finally(() => (this.refreshing = undefined));
    return this.refreshing;
  }

  private async attempt({
    method,
    path,
    query,
    body,
    signal,
    extraMs = 0,
    ...outgoing
  }: Outgoing): Promise<Answer> {
    const url = `${this.options.baseUrl}${path}`;
    const authorized = await orAborted(Promise.resolve(this.options.authorize({ method, url })), signal);
    const given = Object.entries(outgoing.headers ?? {}).filter(
      (one): one is [string, string] => one[1] !== undefined,
    );
    const sent = {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...Object.fromEntries(given),
    };
    const headers = new Headers({ ...sent, ...authorized });
    outgoing.payer?.requireSame(holderOf(headers));
    const time = limited(this.options.timeoutMs + extraMs, signal);
    try {
      const init = {
        method,
        headers,
        ...(body !== undefined && { body }),
        signal: time.signal,
        credentials: this.options.credentials,
        cache: 'no-store',
        redirect: 'error', // a redirect would send a payment to somebody else
      } as const;
      const response = await this.options.fetch(`${url}${queryOf(query)}`, init);
      return toAnswer(response, await response.text());
    } catch (error) {
      if (error instanceof NetworkError) throw error;
      if (signal?.aborted) throw reasonOf(signal);
      throw new NetworkError(textOf(error, time.isOver()), !isNotSent(error), error);
    } finally {
      time.end();
    }
  }
}

function toAnswer({ status, headers }: Response, text: string): Answer {
  const callId = headers.get('x-call-id');
  // Each answer of the proxy names its call. Otherwise something between here and the proxy answered.
  if (callId === null)
    throw new NetworkError(`The answer with HTTP status ${status} is not of payout-proxy.`, true);
  const body = parsed(text);
  // The provider's bytes pass through. They can look like an error of the proxy, but do not know the call.
  if (!isErrorBody(body) || body.call_id !== callId) return { body, callId, error: undefined };
  const seconds = Number(headers.get('retry-after') ?? undefined);
  const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
  return { body, callId, error: toApiError(body, { status, retryAfterMs }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function queryOf(query: Outgoing['query']): string {
  const given = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return given.length > 0 ? `?${given.join('&')}` : '';
}

/**
 * Returns a signal that is aborted after a time, or with the given one. Old runtimes have no
 * `AbortSignal.any`.
 */
function limited(ms: number, given: AbortSignal | undefined) {
  const own = new AbortController();
  let isOver = false;
  const onTimeOut = () => {
    isOver = true;
    own.abort();
  };
  const timer = setTimeout(onTimeOut, Math.min(ms, LONGEST_TIMER_MS));
  const abort = () => own.abort();
  if (given?.aborted) abort();
  given?.addEventListener('abort', abort, { once: true });
  const end = () => {
    clearTimeout(timer);
    given?.removeEventListener('abort', abort);
  };
  return { signal: own.signal, isOver: () => isOver, end };
}

function textOf(error: unknown, isOver: boolean): string {
  if (isOver) return 'The proxy did not answer in time.';
  const causes = causesOf(error).map((cause) =>
    cause instanceof Error ? cause.message || cause.name : 'unknown',
  );
  return `The proxy cannot be reached: ${[...new Set(causes)].join(': ')}`;
}

/** Whether no byte of the request can have left. */
function isNotSent(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    // Several addresses were tried, and no connection may have stood.
    if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(isNotSent);
    const { code, syscall, message } = cause as { code?: unknown; syscall?: unknown; message?: unknown };
    // a port that fetch refuses (https://fetch.spec.whatwg.org/#port-blocking)
    if (message === 'bad port') return true;
    return typeof code === 'string' && (BEFORE_FIRST_BYTE.test(code) || syscall === 'connect');
  });
}

/**
 * An error and its causes, outermost first. `fetch` hides the fault of the network in the cause of its own
 * error.
 */
function causesOf(error: unknown): object[] {
  if (typeof error !== 'object' || error === null) return [];
  return [error, ...causesOf((error as { cause?: unknown }).cause)];
}
