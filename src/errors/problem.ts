import { Kind, ProblemCode, PROBLEMS } from './problems';

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
    this.recorded = options.recorded ?? true;
  }
}

/** For `catch`, where a question to our database is the only thing that can fail. */
export function databaseUnavailable(cause: unknown): never {
  throw new Problem('database_unavailable', { cause });
}
