import { REFUSED_AT_THE_DOOR } from '../../operations/lifecycle';
import { namesWork } from './traces';

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
    | { kind: 'not_sent'; failure: FailureCode; status: null; body: null }
    /** It says that it did nothing, and may have: a 500 in its envelope, or an error that names transactions. */
    | { kind: 'unknown'; failure: 'unverified_rejection'; status: number; body: Buffer }
    | { kind: 'unknown'; failure: FailureCode; status: number | null; body: Buffer | null }
  );

interface AnswerDetails {
  contentType: string | null;
  /** Seconds, as the upstream asked; of `circuit_open`, until the upstream is asked again. */
  retryAfter: number | null;
}

/** What of a request decides what its answer proves. */
export interface RequestKind {
  effect: 'pay' | 'write' | 'read';
  /** Whether no list of the upstream ever shows what this makes, so that its word is all there is. */
  unlisted?: true;
}

/**
 * Decides what an exchange means. Doubt must never pass for a rejection, nor for a success: a rejected payout may be tried
 * again, and would then be paid twice.
 */
export function toAnswer(exchange: Exchange, request: RequestKind): Answer {
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
  const meaning = request.effect === 'read' ? meaningOfRead(response) : meaningOfChange(response, request);
  return { ...meaning, ...response };
}

type Response = AnswerDetails & { status: number; body: Buffer };

type Meaning =
  | { kind: 'succeeded' | 'rejected'; failure: null }
  | { kind: 'unknown'; failure: 'unreadable' | 'server_error' | 'unverified_rejection' };

const SUCCEEDED = { kind: 'succeeded', failure: null } as const;
const REJECTED = { kind: 'rejected', failure: null } as const;
const UNVERIFIED = { kind: 'unknown', failure: 'unverified_rejection' } as const;

/** A read changes nothing. Whatever says no is taken at its claimed. */
function meaningOfRead({ status, body }: Response): Meaning {
  if (status >= 400 && status < 500) return REJECTED;
  const envelope = parseJson(body);
  const claimed = status < 300 ? readEnvelopeStatus(envelope) : undefined;
  if (claimed) return { kind: claimed, failure: null };
  return status === 500 && wordOf(envelope) === 'error' ? REJECTED : notUnderstood(status);
}

/**
 * Only the service's own envelope says that something was not done, and only where it names nothing that was done. A 500 is
 * documented as a failure, but such services also send it after paying: it is not believed until the upstream's list bears it
 * out. Other 5xx come from machines in between, even where they look like the service.
 */
function meaningOfChange({ status, body }: Response, { unlisted }: RequestKind): Meaning {
  const envelope = parseJson(body);
  const saysError = wordOf(envelope) === 'error';
  const claimed = status < 300 ? readEnvelopeStatus(envelope) : saysError && status <= 500 ? 'rejected' : undefined;
  if (claimed === 'succeeded') return SUCCEEDED;
  const named = namesWork(envelope);
  if (REFUSED_AT_THE_DOOR.includes(status) && !named) return REJECTED;
  if (claimed === undefined) return notUnderstood(status);
  // Some of it was done: it counts as a success, whose items keep the words that the upstream has for them.
  if (named) return saysError ? UNVERIFIED : SUCCEEDED;
  return status === 500 && !unlisted ? UNVERIFIED : REJECTED;
}

function notUnderstood(status: number): Meaning {
  return { kind: 'unknown', failure: status < 500 ? 'unreadable' : 'server_error' };
}

/** The answer to a request of which the upstream provably has not seen a byte. */
export function notSent(failure: FailureCode, retryAfter: number | null = null) {
  return { kind: 'not_sent', failure, status: null, body: null, contentType: null, retryAfter } as const;
}

/** Reads a 2xx's envelope (docs/reference/upstream.md, traps 1 and 2); undefined if it says neither. */
export function readEnvelopeStatus(envelope: unknown): 'succeeded' | 'rejected' | undefined {
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
