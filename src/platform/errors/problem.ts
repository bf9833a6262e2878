import { Action, ACTIONS, FOR_READS } from './actions';
import { Kind, ProblemCode, PROBLEMS } from './problems';

/** The states that the call may have that a request repeats. */
export const FIRST_CALL_STATES = ['in_progress', 'unknown', 'pending_approval', 'succeeded', 'confirmed'] as const;

export type FirstCallState = (typeof FIRST_CALL_STATES)[number];

/** One fault of a request: where (a JSON pointer, RFC 6901; '' is the whole body) and what to do about it. */
export interface Fault {
  pointer: string;
  detail: string;
}

/** At most this many faults are stored and returned. Their total says how many there were. */
export const MAX_FAULTS = 100;

interface ProblemOptions {
  text?: string;
  status?: number;
  /** What the caller does about it, where this case differs from others of the same code. */
  action?: Action;
  retryAfter?: number | undefined;
  /** Only the first `MAX_FAULTS` are kept. */
  faults?: Fault[];
  /** How many faults there are, if not all are listed. */
  faultsTotal?: number;
  firstCallId?: string | undefined;
  firstCallState?: FirstCallState;
  recorded?: boolean;
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
  /** What became of that call so far, where it is known. */
  readonly firstCallState: FirstCallState | undefined;
  /** Whether it is recorded as a refusal; false only where the same was recorded a moment before. */
  readonly recorded: boolean;

  constructor(
    readonly code: ProblemCode,
    options: ProblemOptions = {},
  ) {
    const kind: Kind = PROBLEMS[code];
    super(options.text ?? kind.text, { cause: options.cause });
    this.status = options.status ?? kind.status;
    this.retryAfter = options.retryAfter ?? kind.retryAfter;
    this.action = options.action ?? ACTIONS[code];
    const { faults = [] } = options;
    this.faults = faults.slice(0, MAX_FAULTS);
    this.faultsTotal = options.faultsTotal ?? faults.length;
    this.firstCallId = options.firstCallId;
    this.firstCallState = options.firstCallState;
    this.recorded = options.recorded ?? true;
  }

  /** The same problem in the words for a read: they say nothing about sending again. What a thrower said more exactly stays. */
  asRead(): Problem {
    const words = FOR_READS[this.code];
    if (words === undefined || this.message !== PROBLEMS[this.code].text) return this;
    const { status, retryAfter, faults, faultsTotal, recorded, cause } = this;
    const same = { status, retryAfter, faults, faultsTotal, recorded, cause };
    return new Problem(this.code, { ...same, text: words.text, action: words.action ?? this.action });
  }
}

/** Rethrows an error of a query to the proxy's own database as `database_unavailable`. For `catch`. */
export function databaseUnavailable(cause: unknown): never {
  throw new Problem('database_unavailable', { cause });
}
