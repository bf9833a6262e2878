import { type ApiError, isErrorBody, NetworkError, toApiError } from '../errors.ts';
import { holderOf, type Payer, personOfToken } from '../sessions/payer.ts';
import { LONGEST_TIMER_MS, abortable, reasonOf } from './waiting.ts';

/** A request that needs a credential. */
export interface RequestToAuthorize {
  method: 'GET' | 'POST' | 'DELETE';
  /** Address without query: the `htu` of a DPoP proof (RFC 9449, section 4.2). */
  url: string;
}

/** Returns the headers that authorize one attempt, because a DPoP proof is valid once. */
export type Authorize = (
  request: RequestToAuthorize,
) => Record<string, string> | Promise<Record<string, string>>;

export interface TransportOptions {
  /** Address without a trailing slash. */
  baseUrl: string;
  fetch: typeof fetch;
  authorize: Authorize;
  /** Obtains a new credential. */
  refresh: ((error: ApiError) => void | Promise<void>) | undefined;
  /** Whether the browser adds its cookies. */
  credentials: 'omit' | 'include';
  timeoutMs: number;
}

export interface OutgoingRequest {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined> | undefined;
  /** JSON text. */
  body?: string | undefined;
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal | undefined;
  /** Extension of the timeout, for requests that wait at the proxy. */
  extraMs?: number;
  /** Person of the payment. Undefined for requests that pay nothing. */
  payer?: Payer;
}

/** A complete answer of the proxy. */
export interface Answer {
  /** JSON, or text that is not JSON. */
  body: unknown;
  /** ID of the call. */
  callId: string;
  /** Error of the proxy. Undefined for successes and for the provider's errors. */
  error: ApiError | undefined;
}

/** Sends requests. */
export interface Sender {
  /** @throws NetworkError without an answer of the proxy, or the signal's reason. */
  send(outgoing: OutgoingRequest): Promise<Answer>;

  /**
   * Returns the person of the current credential. Undefined for keys, and without a signed-in person.
   * @throws NetworkError if the session cannot be read, or the signal's reason.
   */
  payer(signal: AbortSignal | undefined): Promise<string | undefined>;
}

/** Codes of an expired credential. The same request may be accepted with a new one. */
const EXPIRED: readonly string[] = ['token_expired', 'ephemeral_key_ended'];

/**
 * Node's codes of failures before the first byte: no address, no connection, or no trusted certificate.
 * Browsers have none. See https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
const BEFORE_FIRST_BYTE = [
  /^(ERR_INVALID_URL|ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/,
  /^(UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_\w+|ERR_SSL_WRONG_VERSION_NUMBER)$/,
  /^(CERT_\w+|UNABLE_TO_\w+|\w+_SIGNED_CERT(_IN_CHAIN)?)$/,
];

/** Sends single requests. */
export class Transport implements Sender {
  /** Refresh in progress. Requests that fail meanwhile wait for it. */
  private refreshing: Promise<void> | undefined;
  /** Number of renewals of the credential. */
  private renewals = 0;

  constructor(private readonly options: TransportOptions) {}

  /**
   * Sends a request. After an expired credential, renews it once and sends the request again, because the
   * proxy rejects such a request before any effect.
   * @throws NetworkError without an answer of the proxy, PayoutProxyError for the payment of another person,
   * TypeError for an invalid header, or the signal's reason.
   */
  async send(outgoing: OutgoingRequest): Promise<Answer> {
    const { refresh } = this.options;
    const { renewals } = this;
    const answer = await this.attempt(outgoing);
    const { error } = answer;
    if (!refresh || error?.action !== 'fix_request' || !EXPIRED.includes(error.code)) return answer;
    if (this.renewals === renewals) {
      const renewing = this.renew(() => refresh(error));
      await abortable(renewing, outgoing.signal);
    }
    return this.attempt(outgoing);
  }

  async payer(signal: AbortSignal | undefined): Promise<string | undefined> {
    const { authorize, baseUrl } = this.options;
    const authorized = await abortable(Promise.resolve(authorize({ method: 'GET', url: baseUrl })), signal);
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
  }: OutgoingRequest): Promise<Answer> {
    const url = `${this.options.baseUrl}${path}`;
    const authorized = await abortable(Promise.resolve(this.options.authorize({ method, url })), signal);
    const present = Object.entries(outgoing.headers ?? {}).filter(
      (header): header is [string, string] => header[1] !== undefined,
    );
    const headers = new Headers({
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...Object.fromEntries(present),
      ...authorized,
    });
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
        redirect: 'error', // a payment must not go to another address
      } as const;
      const response = await this.options.fetch(`${url}${queryOf(query)}`, init);
      return toAnswer(response, await response.text());
    } catch (error) {
      if (error instanceof NetworkError) throw error;
      if (signal?.aborted) throw reasonOf(signal);
      throw new NetworkError(textOf(error, time.isTimedOut()), !isNotSent(error), error);
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
  // The provider's bytes pass through the proxy. They may imitate its error, but cannot know the call.
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

function queryOf(query: OutgoingRequest['query']): string {
  const parameters = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return parameters.length > 0 ? `?${parameters.join('&')}` : '';
}

/** Returns a signal that ends after `ms` or with `signal`. Older runtimes have no `AbortSignal.any`. */
function limited(ms: number, signal: AbortSignal | undefined) {
  const own = new AbortController();
  let isTimedOut = false;
  const onTimeOut = () => {
    isTimedOut = true;
    own.abort();
  };
  const timer = setTimeout(onTimeOut, Math.min(ms, LONGEST_TIMER_MS));
  const abort = () => own.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
  return { signal: own.signal, isTimedOut: () => isTimedOut, end };
}

function textOf(error: unknown, isTimedOut: boolean): string {
  if (isTimedOut) return 'The proxy did not answer in time.';
  const causes = causesOf(error).map((cause) =>
    cause instanceof Error ? cause.message || cause.name : 'unknown',
  );
  return `The proxy cannot be reached: ${[...new Set(causes)].join(': ')}`;
}

/** Returns whether certainly no byte of the request was sent. */
function isNotSent(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    // Several addresses were tried: each must have failed before a connection.
    if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(isNotSent);
    const { code, syscall, message } = cause as { code?: unknown; syscall?: unknown; message?: unknown };
    // A port that fetch blocks: https://fetch.spec.whatwg.org/#port-blocking
    if (message === 'bad port') return true;
    if (typeof code !== 'string') return false;
    return syscall === 'connect' || BEFORE_FIRST_BYTE.some((codes) => codes.test(code));
  });
}

/** Returns an error and its causes, outermost first. The error of `fetch` has the network's as its cause. */
function causesOf(error: unknown): object[] {
  if (typeof error !== 'object' || error === null) return [];
  return [error, ...causesOf((error as { cause?: unknown }).cause)];
}
