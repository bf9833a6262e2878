/** One fault of a request: where (a JSON pointer, RFC 6901; '' is the whole body) and what to do about it. */
export interface Fault {
  pointer: string;
  detail: string;
}

interface Kind {
  /** HTTP status. */
  status: number;
  /** What happened and what the caller can do; a thrower may say it more exactly. */
  text: string;
  /** Seconds for `Retry-After`, where trying again is safe and makes sense. */
  retryAfter?: number;
}

/** Every error the proxy answers with, by its code. The only map from errors to statuses. */
export const PROBLEMS = {
  invalid_request: { status: 400, text: 'The request is not valid; correct what "errors" lists and send it again.' },
  not_served: {
    status: 400,
    text: 'The payout service does not pay out to where an item goes; nothing was sent. "errors" lists what it serves.',
  },
  missing_key: { status: 401, text: 'Send your API key in the header X-API-Key.' },
  invalid_key: { status: 401, text: 'This API key is unknown, expired or revoked; ask the operator for a new one.' },
  scope_missing: { status: 403, text: 'This API key does not have the scope that the operation needs.' },
  operation_not_allowed: {
    status: 403,
    text: 'This operation is switched off for your client; ask the operator to allow it.',
  },
  not_found: { status: 404, text: 'There is nothing at this address; /docs lists what there is.' },
  call_not_found: { status: 404, text: 'There is no call of yours with this id.' },
  not_ready: { status: 503, text: 'The database cannot be reached, or the proxy is stopping.' },
  internal_error: { status: 500, text: 'A fault of ours; nothing was sent. Tell the operator the call_id.' },
  database_unavailable: {
    status: 503,
    text: 'Our database cannot be reached; the request was neither recorded nor sent. Send it again in a moment.',
    retryAfter: 1,
  },
  upstream_auth: {
    status: 502,
    text: 'The payout service refused our credentials; nothing was paid. The operator has to mend this.',
  },
  upstream_busy: {
    status: 503,
    text: 'The payout service is limiting us; nothing was paid. Try again later.',
    retryAfter: 1,
  },
  upstream_unreachable: {
    status: 503,
    text: 'The payout service cannot be reached; nothing was sent. It is safe to send the request again.',
    retryAfter: 1,
  },
  outcome_unknown: {
    status: 502,
    text: 'It is unknown whether the payout service carried this out. Do not send it again; ask GET /v1/calls/{call_id} what became of it.',
  },
} as const satisfies Record<string, Kind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Thrown wherever a request ends early; the filter turns it into the answer. */
export class Problem extends Error {
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly faults: Fault[];

  constructor(
    readonly code: ProblemCode,
    options: { text?: string; status?: number; retryAfter?: number; faults?: Fault[]; cause?: unknown } = {},
  ) {
    const kind: Kind = PROBLEMS[code];
    super(options.text ?? kind.text, { cause: options.cause });
    this.status = options.status ?? kind.status;
    this.retryAfter = options.retryAfter ?? kind.retryAfter;
    this.faults = options.faults ?? [];
  }
}

/** The interface's own envelope (interface.md, "Send result"), with our members beside it. */
export function toEnvelope(problem: Problem, callId: string) {
  return {
    status: 'error',
    error: textOf(problem, callId),
    code: problem.code,
    call_id: callId,
    ...(problem.faults.length > 0 && { errors: problem.faults }),
  };
}

/** RFC 9457 `application/problem+json`, with the same members. */
export function toProblemDetails(problem: Problem, callId: string) {
  return {
    type: 'about:blank',
    title: problem.code.replaceAll('_', ' '),
    status: problem.status,
    detail: textOf(problem, callId),
    code: problem.code,
    call_id: callId,
    ...(problem.faults.length > 0 && { errors: problem.faults }),
  };
}

function textOf({ message }: Problem, callId: string): string {
  return message.replaceAll('{call_id}', callId);
}
