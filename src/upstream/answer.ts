/** What the upstream's wire gave: a whole response, or why there is none. */
export type Exchange =
  | {
      status: number;
      contentType: string | null;
      /** Only a server that ignores what it was asked for compresses its answer. */
      contentEncoding: string | null;
      retryAfter: number | null;
      body: Buffer;
    }
  | { failure: FailureCode; written: boolean };

/** Why there is no usable answer, in a word for the record. */
export type FailureCode =
  | 'refused'
  | 'dns'
  | 'tls'
  | 'connect_timeout'
  | 'not_connected'
  | 'timeout'
  | 'reset'
  | 'oversized'
  | 'redirect'
  | 'unreadable'
  | 'server_error'
  /** Too many requests waited already, or it had waited for as long as it could. */
  | 'overloaded'
  /** The upstream fails most requests of this operation. */
  | 'circuit_open'
  /** The operator stopped it while it waited for its turn. */
  | 'stopped'
  /** It waited for its turn, and whether it was stopped meanwhile could not be found out. */
  | 'stop_unknown'
  /** Too much time had passed since it was admitted: somebody may have settled it meanwhile. */
  | 'too_late';

/** Failures of the network: no connection, or none that could be trusted, so that nothing was written. */
export const NOT_CONNECTED = ['refused', 'dns', 'tls', 'connect_timeout', 'not_connected'] as const;

/** What became of a request, as far as one can know. */
export type Answer = AnswerDetails &
  (
    | { kind: 'succeeded' | 'rejected'; failure: null; status: number; body: Buffer }
    | { kind: 'notSent'; failure: FailureCode; status: null; body: null }
    | { kind: 'unknown'; failure: FailureCode; status: number | null; body: Buffer | null }
  );

interface AnswerDetails {
  contentType: string | null;
  /** Seconds, as the upstream asked; of `circuit_open`, until the upstream is asked again. */
  retryAfter: number | null;
}

/**
 * Decides what an exchange means. Only what the upstream says itself, in its envelope or with a 4xx, counts as answered:
 * a rejected payout may be tried again, so doubt must never pass for a rejection, nor for a success.
 */
export function toAnswer(exchange: Exchange): Answer {
  if ('failure' in exchange) {
    const answer = notSent(exchange.failure);
    return exchange.written ? { ...answer, kind: 'unknown' } : answer;
  }
  const { status, contentType, contentEncoding, retryAfter, body } = exchange;
  const response = { status, contentType, retryAfter, body };
  if (status >= 300 && status < 400) return { kind: 'unknown', failure: 'redirect', ...response };
  if (status === 408) return { kind: 'unknown', failure: 'timeout', ...response };
  if (contentEncoding !== null && contentEncoding.toLowerCase() !== 'identity') {
    return { kind: 'unknown', failure: 'unreadable', ...response };
  }
  if (status >= 400 && status < 500) return { kind: 'rejected', failure: null, ...response };
  const envelope = parseJson(body);
  if (status < 300) {
    const verdict = readVerdict(envelope);
    return verdict
      ? { kind: verdict, failure: null, ...response }
      : { kind: 'unknown', failure: 'unreadable', ...response };
  }
  // Other 5xx come from machines in between even when they look like the service: what it did meanwhile is unknown.
  if (status === 500 && wordOf(envelope) === 'error') return { kind: 'rejected', failure: null, ...response };
  return { kind: 'unknown', failure: 'server_error', ...response };
}

/** The answer to a request of which the upstream provably has not seen a byte. */
export function notSent(failure: FailureCode, retryAfter: number | null = null) {
  return { kind: 'notSent', failure, status: null, body: null, contentType: null, retryAfter } as const;
}

/** Reads a 2xx's envelope (interface.md, "Send result"; upstream-observed.md, traps 1 and 2); undefined if it says neither. */
export function readVerdict(envelope: unknown): 'succeeded' | 'rejected' | undefined {
  const word = wordOf(envelope);
  if (word === 'error') return 'rejected';
  if (word !== 'success') return undefined;
  const { data } = envelope as { data?: unknown };
  const error = isObject(data) ? data.error : undefined;
  if (error === undefined || error === null) return 'succeeded';
  if (typeof error !== 'string') return undefined; // neither the "None" nor the text that was ever seen
  return error === '' || error.toLowerCase() === 'none' ? 'succeeded' : 'rejected';
}

function wordOf(envelope: unknown): string | undefined {
  return isObject(envelope) && typeof envelope.status === 'string' ? envelope.status.toLowerCase() : undefined;
}

const parsed = new WeakMap<Buffer, unknown>();

/**
 * The value of a JSON text, or undefined if it is none. Several look at the same answer, whose bytes never change: they are
 * parsed once. Nobody may change the value.
 */
export function parseJson(body: Buffer): unknown {
  if (!parsed.has(body)) parsed.set(body, valueOf(body));
  return parsed.get(body);
}

function valueOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
