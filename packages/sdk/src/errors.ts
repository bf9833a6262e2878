import type { components } from './generated/schema.ts';
import type { Action, ErrorCode, Fault } from './types.ts';

/**
 * Base of all errors. `instanceof` compares kinds, because a program can have two copies of this package, by
 * `import` and by `require`: https://nodejs.org/api/packages.html#dual-commonjses-module-packages
 */
class SdkError extends Error {
  /** Name of the class, which minifiers do not change. */
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

/** Returns the kinds of a class and its base classes. */
function kindsOf(constructor: unknown): unknown[] {
  if (typeof constructor !== 'function') return [];
  const { kind } = constructor as { kind?: unknown };
  return [kind, ...kindsOf(Object.getPrototypeOf(constructor))];
}

/** Base of all errors about a request. */
export class PayoutProxyError extends SdkError {
  static override readonly kind: string = 'PayoutProxyError';
}

/** Reports that no answer of the proxy arrived. */
export class NetworkError extends PayoutProxyError {
  static override readonly kind: string = 'NetworkError';

  /** @param maySent whether the request may have arrived. False only without a connection. */
  constructor(
    message: string,
    readonly maySent: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Reports that the provider rejected a request. `message` is the provider's text. */
export class ProviderError extends PayoutProxyError {
  static override readonly kind: string = 'ProviderError';

  /** @param answer whole answer of the provider. */
  constructor(
    message: string,
    readonly answer: unknown,
  ) {
    super(message);
  }
}

/** Members of an error of the proxy, in the interface's envelope and in problem details (RFC 9457). */
export type ErrorBody = Omit<components['schemas']['ErrorEnvelope'], 'status'>;

/** HTTP status and header of an error. */
interface ResponseDetails {
  status?: number | undefined;
  /** `Retry-After` in milliseconds. */
  retryAfterMs?: number | undefined;
}

/** Reports that the proxy rejected a request, or could not carry it out. `action` is the next step. */
export class ApiError extends PayoutProxyError {
  static override readonly kind: string = 'ApiError';
  /** Error code, such as `cap_exceeded`. */
  readonly code: ErrorCode;
  /** Next step of your program. */
  readonly action: Action;
  /** Record of the rejected request. Pass it to the operator with a question about the error. */
  readonly callId: string | undefined;
  /** Faults of the request, at most 100. */
  readonly errors: readonly Fault[];
  /** Total number of faults. */
  readonly errorsTotal: number;
  /** Call with the same content or key. */
  readonly firstCallId: string | undefined;
  /** State of that call, for `suspected_duplicate`. */
  readonly firstCallState: string | undefined;
  /** HTTP status. */
  readonly status: number | undefined;
  /** Time until the next attempt, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    body: Omit<ErrorBody, 'call_id'> & { call_id?: string },
    { status, retryAfterMs }: ResponseDetails = {},
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

/** Reports an invalid request (`fix_request`), which would be rejected again. `errors` lists its faults. */
export class InvalidRequestError extends ApiError {
  static override readonly kind: string = 'InvalidRequestError';
}

/** Reports a temporary failure that outlasted all retries (`retry_same_key`). Nothing was done. */
export class RetryLaterError extends ApiError {
  static override readonly kind: string = 'RetryLaterError';
}

/** Reports that nothing was paid, and that another attempt needs a new payment (`new_key`). */
export class NewKeyError extends ApiError {
  static override readonly kind: string = 'NewKeyError';
}

/** Reports that the outcome is unknown yet (`wait`). Do not send the request again. */
export class OutcomeUnknownError extends ApiError {
  static override readonly kind: string = 'OutcomeUnknownError';
}

/** Reports that a person must decide or change something (`ask`): an operator, an approver, or the sender. */
export class DecisionNeededError extends ApiError {
  static override readonly kind: string = 'DecisionNeededError';
}

/** Reports a missing, unknown, expired or revoked key or token, or an ended session (401). */
export class AuthenticationError extends ApiError {
  static override readonly kind: string = 'AuthenticationError';
}

/** Reports an invalid receipt or signature. */
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
export function toApiError(body: ErrorBody, details: ResponseDetails): ApiError {
  const kind = details.status === UNAUTHORIZED ? AuthenticationError : (BY_ACTION[body.action] ?? ApiError);
  return new kind(body, details);
}

/** Returns whether a body has the form of the proxy's errors. The provider's have no `action`. */
export function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  const { code, action, error, call_id } = body as Record<string, unknown>;
  return [code, action, error, call_id].every((member) => typeof member === 'string');
}
