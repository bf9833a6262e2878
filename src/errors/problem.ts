import { Kind, ProblemCode, PROBLEMS } from './problems';

/** What may have become so far of a call that a request repeats. */
export const FIRST_CALL_STATES = ['in_progress', 'unknown', 'pending_approval', 'succeeded', 'landed'] as const;

export type FirstCallState = (typeof FIRST_CALL_STATES)[number];

/** One fault of a request: where (a JSON pointer, RFC 6901; '' is the whole body) and what to do about it. */
export interface Fault {
  pointer: string;
  detail: string;
}

/** Thrown wherever a request ends early; the filter turns it into the answer. */
export class Problem extends Error {
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly faults: Fault[];
  /** The call that the request repeats. */
  readonly firstCallId: string | undefined;
  /** What became of that call so far, where it is known. */
  readonly firstCallState: FirstCallState | undefined;
  /** Whether it is recorded as a refusal; false only where the same was recorded a moment before. */
  readonly recorded: boolean;

  constructor(
    readonly code: ProblemCode,
    options: {
      text?: string;
      status?: number;
      retryAfter?: number;
      faults?: Fault[];
      firstCallId?: string;
      firstCallState?: FirstCallState;
      recorded?: boolean;
      cause?: unknown;
    } = {},
  ) {
    const kind: Kind = PROBLEMS[code];
    super(options.text ?? kind.text, { cause: options.cause });
    this.status = options.status ?? kind.status;
    this.retryAfter = options.retryAfter ?? kind.retryAfter;
    this.faults = options.faults ?? [];
    this.firstCallId = options.firstCallId;
    this.firstCallState = options.firstCallState;
    this.recorded = options.recorded ?? true;
  }
}

/** For `catch`, where a question to our database is the only thing that can fail. */
export function databaseUnavailable(cause: unknown): never {
  throw new Problem('database_unavailable', { cause });
}
