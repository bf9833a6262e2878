import type { components } from './generated/schema.ts';
import type { Action, ErrorCode, Fault } from './types.ts';

/**
 * The base of all errors. A program can have two copies of this package, because one part of it uses `import`
 * and another `require`. `instanceof` therefore compares kinds, and accepts errors of both copies.
 */
class SdkError extends Error {
  /** The name of the class, which minifiers leave alone. */
  static readonly kind: string = 'SdkError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.kind;
  }

  static override [Symbol.hasInstance](error: unknown): boolean {
    if (super[Symbol.hasInstance](error)) return true;
    if (!Object.hasOwn(this, 'kind') || !(error instanceof Error)) return false;
    return kindsOf(error.constructor).includes(this.kind);
  }
}

/** Returns the kinds of a class and of those that it extends. */
function kindsOf(constructor: unknown): unknown[] {
  if (typeof constructor !== 'function') return [];
  const { kind } = constructor as { kind?: unknown };
  return [kind, ...kindsOf(Object.getPrototypeOf(constructor))];
}

/** Every error of this package that is about a request. */
export class PayoutProxyError extends SdkError {
  static override readonly kind: string = 'PayoutProxyError';
}

/** No answer arrived, or none that the proxy can have written. */
export class NetworkError extends PayoutProxyError {
  static override readonly kind: string = 'NetworkError';

  /** @param maySent whether the request may have arrived. False only if no connection was made. */
  constructor(
    message: string,
    readonly maySent: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** The provider rejected a request. Its text passes through the proxy unchanged. */
export class ProviderError extends PayoutProxyError {
  static override readonly kind: string = 'ProviderError';

  /** @param answer the provider's whole answer. */
  constructor(
    message: string,
    readonly answer: unknown,
  ) {
    super(message);
  }
}

/** The members of an error of the proxy, in the interface's envelope and in problem details (RFC 9457). */
export type ErrorBody = Omit<components['schemas']['ErrorEnvelope'], 'status'>;

/** What the answer says besides its body. */
interface Around {
  status?: number | undefined;
  /** Milliseconds. */
  retryAfterMs?: number | undefined;
}

/** The proxy refused a request, or could not carry it out. */
export class ApiError extends PayoutProxyError {
  static override readonly kind: string = 'ApiError';
  /** The error code, such as `cap_exceeded`. */
  readonly code: ErrorCode;
  /** What your program does next. */
  readonly action: Action;
  /** The record of the refused request. Give it to the operator if you ask about the error. */
  readonly callId: string | undefined;
  /** The faults of the request, at most 100. */
  readonly errors: readonly Fault[];
  /** How many faults the request has. */
  readonly errorsTotal: number;
  /** The call that the request repeats, or whose key it has. */
  readonly firstCallId: string | undefined;
  /** The state of that call, for `suspected_duplicate`. */
  readonly firstCallState: string | undefined;
  /** The HTTP status. */
  readonly status: number | undefined;
  /** How long to wait before you try again, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    body: Omit<ErrorBody, 'call_id'> & { call_id?: string },
    { status, retryAfterMs }: Around = {},
  ) {
    super(body.error);
    this.code = body.code;
    this.action = body.action;
    this.callId = body.call_id;
    this.errors = body.errors ?? [];
    this.errorsTotal = body.errors_total ?? this.errors.length;
    this.firstCallId = body.first_call_id;
    this.firstCallState = body.first_call_state;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The request is wrong and would be refused again (`fix_request`). `errors` lists every fault. */
export class InvalidRequestError extends ApiError {
  static override readonly kind: string = 'InvalidRequestError';
}

/** Nothing was done, and the same request may be sent again (`retry_same_key`). The SDK has already tried. */
export class RetryLaterError extends ApiError {
  static override readonly kind: string = 'RetryLaterError';
}

/** Nothing was paid, and another attempt needs a new idempotency key (`new_key`). */
export class NewKeyError extends ApiError {
  static override readonly kind: string = 'NewKeyError';
}

/** Nobody knows the outcome yet (`wait`). The request must not be sent again. */
export class OutcomeUnknownError extends ApiError {
  static override readonly kind: string = 'OutcomeUnknownError';
}

/** A person must decide or change something (`ask`): an operator, an approver, or the sender. */
export class DecisionNeededError extends ApiError {
  static override readonly kind: string = 'DecisionNeededError';
}

/** The key or token is missing, unknown, expired or revoked, or the session has ended (401). */
export class AuthenticationError extends ApiError {
  static override readonly kind: string = 'AuthenticationError';
}

/** A receipt, or the signature of an event, does not hold. */
export class VerificationError extends SdkError {
  static override readonly kind: string = 'VerificationError';
}

const BY_ACTION: Partial<Record<Action, typeof ApiError>> = {
  fix_request: InvalidRequestError,
  retry_same_key: RetryLaterError,
  new_key: NewKeyError,
  wait: OutcomeUnknownError,
  ask: DecisionNeededError,
};

const UNAUTHORIZED = 401;

/** Returns the error of a body that `isErrorBody` accepts. */
export function toApiError(body: ErrorBody, around: Around): ApiError {
  const kind = around.status === UNAUTHORIZED ? AuthenticationError : (BY_ACTION[body.action] ?? ApiError);
  return new kind(body, around);
}

/** Whether the proxy wrote this error. The provider's errors have no `action`. */
export function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  const { code, action, error, call_id } = body as Record<string, unknown>;
  return [code, action, error, call_id].every((member) => typeof member === 'string');
}
