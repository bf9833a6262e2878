import { GATEWAY_REFUSALS } from '../../../operations/lifecycle/lifecycle';
import { UNVERIFIED_REJECTION } from '../../../operations/lifecycle/rejections';
import { readExactJson } from '../../../platform/json/exact-json';
import { isObject } from '../../../platform/json/is-object';

/** The result of an exchange: a complete response, or the reason for a missing one. */
export type Exchange =
  | {
      status: number;
      contentType: string | null;
      /** False if the body is in a coding that cannot be read. */
      isDecoded: boolean;
      retryAfter: number | null;
      body: Buffer;
    }
  | { failure: FailureCode; written: boolean };

/** Reason for a missing usable answer, as a code of the record. */
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
  /** The upstream fails most requests of this operation. */
  | 'circuit_open'
  /** The deadline of the request had passed, or the call may have been settled since its admission. */
  | 'too_late'
  /** The reader of a list has cancelled it. */
  | 'stopped'
  /** This instance stopped paying before the first byte (FenceService). */
  | 'fenced';

/** Failures of the network: no connection, or no trusted one. Nothing was written. */
export const NOT_CONNECTED = ['refused', 'dns', 'tls', 'connect_timeout', 'not_connected'] as const;

/** The outcome of a request, as far as known. */
export type Answer = AnswerDetails &
  (
    | { kind: 'succeeded' | 'rejected'; failure: null; status: number; body: Buffer }
    | { kind: 'not_sent'; failure: FailureCode; status: null; body: null }
    /** A rejection of a change that may have happened all the same. */
    | { kind: 'unknown'; failure: DoubtedRejection; status: number; body: Buffer }
    | { kind: 'unknown'; failure: FailureCode; status: number | null; body: Buffer | null }
  );

/** Failure codes of rejections that nothing has confirmed. `contradictory` ones name a created object. */
type DoubtedRejection = typeof UNVERIFIED_REJECTION | 'contradictory';

interface AnswerDetails {
  contentType: string | null;
  /** Seconds, as the upstream requested. For `circuit_open`, the time until the upstream is tried again. */
  retryAfter: number | null;
}

/** The properties of a request that determine what its answer proves. */
export interface RequestKind {
  effect: 'pay' | 'write' | 'read';
  /** Whether no list of the upstream shows the effect of this request. Only its answer can prove anything. */
  unlisted?: true;
}

/**
 * Decides what an exchange proves. A doubt must never be recorded as a rejection or a success: a rejected
 * payout may be sent again, and would then be paid twice.
 */
export function toAnswer(exchange: Exchange, request: RequestKind): Answer {
  if ('failure' in exchange) {
    const answer = notSent(exchange.failure);
    return exchange.written ? { ...answer, kind: 'unknown' } : answer;
  }
  const { status, contentType, isDecoded, retryAfter, body } = exchange;
  const response = { status, contentType, retryAfter, body };
  if (status >= 300 && status < 400) return { kind: 'unknown', failure: 'redirect', ...response };
  if (status === 408) return { kind: 'unknown', failure: 'timeout', ...response };
  if (!isDecoded) return { kind: 'unknown', failure: 'unreadable', ...response };
  const meaning = request.effect === 'read' ? meaningOfRead(response) : meaningOfChange(response, request);
  return Object.assign({}, meaning, response);
}

type Response = AnswerDetails & { status: number; body: Buffer };

type Meaning =
  | { kind: 'succeeded' | 'rejected'; failure: null }
  | { kind: 'unknown'; failure: 'unreadable' | 'server_error' | DoubtedRejection };

const SUCCEEDED = { kind: 'succeeded', failure: null } as const;
const REJECTED = { kind: 'rejected', failure: null } as const;
const UNVERIFIED = { kind: 'unknown', failure: UNVERIFIED_REJECTION } as const;
const CONTRADICTORY = { kind: 'unknown', failure: 'contradictory' } as const;

/** Decides about a read. A read changes nothing, so any refusal is believed. */
function meaningOfRead({ status, body }: Response): Meaning {
  if (status >= 400 && status < 500) return REJECTED;
  const envelope = parseJson(body);
  const claimed = status < 300 ? readEnvelopeStatus(envelope) : undefined;
  if (claimed) return { kind: claimed, failure: null };
  return status === 500 && statusOf(envelope) === 'error' ? REJECTED : notUnderstood(status);
}

/**
 * Decides about a change. No error proves that nothing was done: such services also send errors after paying.
 * Only the upstream's lists confirm a rejection. Where no list shows the effect, the service's own envelope
 * is believed. Other 5xx than 500 come from intermediaries, even in an envelope.
 * See docs/internals/decisions/upstream/0063-no-error-proves-that-nothing-happened.md.
 */
function meaningOfChange({ status, body }: Response, { unlisted }: RequestKind): Meaning {
  const envelope = parseJson(body);
  const saysError = statusOf(envelope) === 'error';
  const claimed =
    status < 300 ? readEnvelopeStatus(envelope) : saysError && status <= 500 ? 'rejected' : undefined;
  if (claimed === 'succeeded') return SUCCEEDED;
  const named = namesCreatedObject(envelope);
  const rejection = unlisted ? REJECTED : UNVERIFIED;
  if (GATEWAY_REFUSALS.includes(status) && !named) return rejection;
  if (claimed === undefined) return notUnderstood(status);
  // A partial success. It counts as a success, and its items keep the upstream's statuses.
  if (named) return saysError ? CONTRADICTORY : SUCCEEDED;
  return rejection;
}

function notUnderstood(status: number): Meaning {
  return { kind: 'unknown', failure: status < 500 ? 'unreadable' : 'server_error' };
}

/** The answer to a request of which the upstream provably has not received a byte. */
export function notSent(failure: FailureCode, retryAfter: number | null = null) {
  return { kind: 'not_sent', failure, status: null, body: null, contentType: null, retryAfter } as const;
}

/** Reads the envelope of a 2xx (docs/reference/upstream.md, traps 1 and 2). Undefined if ambiguous. */
export function readEnvelopeStatus(envelope: unknown): 'succeeded' | 'rejected' | undefined {
  const word = statusOf(envelope);
  if (word === 'error') return 'rejected';
  if (word !== 'success') return undefined;
  const { data } = envelope as { data?: unknown };
  const error = isObject(data) ? data.error : undefined;
  if (error === undefined || error === null) return 'succeeded';
  if (typeof error !== 'string') return undefined; // neither "None" nor another text
  return error === '' || error.toLowerCase() === 'none' ? 'succeeded' : 'rejected';
}

function statusOf(envelope: unknown): string | undefined {
  return isObject(envelope) && typeof envelope.status === 'string'
    ? envelope.status.toLowerCase()
    : undefined;
}

/** Caches the value of a JSON text on its bytes. A WeakMap would slow each garbage collection. */
const VALUE = Symbol('value');

/**
 * Returns the value of a JSON text. Undefined unless it is JSON that all parsers read alike. Several readers
 * use the same answer, whose bytes never change, so it is parsed once. Do not change the value.
 */
export function parseJson(body: Buffer & { [VALUE]?: unknown }): unknown {
  if (!(VALUE in body)) body[VALUE] = valueOf(body);
  return body[VALUE];
}

function valueOf(body: Buffer): unknown {
  try {
    return readExactJson(body);
  } catch {
    return undefined;
  }
}

/**
 * Fields of created transactions only (docs/reference/upstream.md, "Identifiers", "Responses"), lower case.
 */
const IDS: ReadonlySet<string> = new Set(['chiref', 'tnxid']);
const NAMES: ReadonlySet<string> = new Set(['issueid', 'paymentlink', 'payoutlink', 'redeemlink', 'payouts']);

/**
 * Whether an answer names, at any depth, an object that the upstream created: a transaction, a batch, a
 * submitted payout or a link. Ignores the answer's own claim of success. Never throws, at any depth.
 */
function namesCreatedObject(answer: unknown): boolean {
  const left = [answer];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, field] of Object.entries(value)) {
      const known = name.toLowerCase();
      if (IDS.has(known) || (NAMES.has(known) && !isEmpty(field))) return true;
      if (typeof field === 'object') left.push(field);
    }
  }
  return false;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
