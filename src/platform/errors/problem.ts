import { Action } from './kinds';
import { ProblemCode, PROBLEMS } from './problems';
import { FOR_READS } from './reads';

/** The possible states of the call that a request repeats. */
export const FIRST_CALL_STATES = [
  'in_progress',
  'unknown',
  'queued',
  'pending_approval',
  'succeeded',
  'confirmed',
] as const;

export type FirstCallState = (typeof FIRST_CALL_STATES)[number];

/** A fault of a request: its JSON pointer (RFC 6901, '' for the whole body) and what to send instead. */
export interface Fault {
  pointer: string;
  detail: string;
  /** The probable meaning. It may name a person, so it is returned and never recorded. */
  suggestion?: string;
}

/** Maximum number of stored and returned faults. The total counts all. */
export const MAX_FAULTS = 100;

export interface ProblemOptions {
  text?: string;
  status?: number | undefined;
  /** The caller's action, if it differs from the usual one of the code. */
  action?: Action;
  retryAfter?: number | undefined;
  /** All faults. The problem keeps the first `MAX_FAULTS`. */
  faults?: Fault[];
  /** The number of faults, if not all are listed. */
  faultsTotal?: number;
  firstCallId?: string | undefined;
  firstCallState?: FirstCallState;
  recorded?: boolean;
  /** The header `WWW-Authenticate`. */
  challenge?: string;
  cause?: unknown;
}

/** An error that ends a request early. The filter turns it into the response. */
export class Problem extends Error {
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly action: Action;
  /** The first faults, at most `MAX_FAULTS`. */
  readonly faults: Fault[];
  readonly faultsTotal: number;
  /** The call that the request repeats. */
  readonly firstCallId: string | undefined;
  /** The state of that call, if known. */
  readonly firstCallState: FirstCallState | undefined;
  /** Whether it is recorded as a refusal. False only for a repetition within a moment. */
  readonly recorded: boolean;
  /** The header `WWW-Authenticate`, with which the caller can prove more about itself. */
  readonly challenge: string | undefined;
  readonly #options: ProblemOptions;

  constructor(
    readonly code: ProblemCode,
    options: ProblemOptions = {},
  ) {
    const kind = PROBLEMS[code];
    super(options.text ?? kind.text, { cause: options.cause });
    this.#options = options;
    this.status = options.status ?? kind.status;
    this.retryAfter = options.retryAfter ?? kind.retryAfter;
    this.action = options.action ?? kind.action;
    const { faults = [] } = options;
    this.faults = faults.slice(0, MAX_FAULTS);
    this.faultsTotal = options.faultsTotal ?? faults.length;
    this.firstCallId = options.firstCallId;
    this.firstCallState = options.firstCallState;
    this.recorded = options.recorded ?? true;
    this.challenge = options.challenge;
  }

  /** Returns the problem under a more exact code, with its Retry-After. Keeps a more specific text. */
  as(code: ProblemCode): Problem {
    return code === this.code
      ? this
      : new Problem(code, { ...this.#options, status: undefined, retryAfter: undefined });
  }

  /** Returns the problem with the text of reads. Keeps a more specific text. */
  asRead(): Problem {
    const words = FOR_READS[this.code];
    if (words === undefined || this.message !== PROBLEMS[this.code].text) return this;
    return new Problem(this.code, {
      ...this.#options,
      text: words.text,
      action: words.action ?? this.action,
    });
  }
}

/** Rethrows a database error as `database_unavailable`, and a problem unchanged. For `catch`. */
export function databaseUnavailable(cause: unknown): never {
  if (cause instanceof Problem) throw cause;
  throw new Problem('database_unavailable', { cause });
}
