/** The action of a program after an error. Each error names one, so that no client needs a table of codes. */
export const ACTION_MEANINGS = {
  retry_same_key:
    'Nothing was done, or the first answer is replayed. Send the same request again after ' +
    '`Retry-After`, with the same `Idempotency-Key` if it had one.',
  new_key: 'Nothing was paid. To try again, send the request with a new `Idempotency-Key`.',
  fix_request: 'The request is wrong and would be rejected again. Change it.',
  wait:
    'The call is in progress, held, or in doubt. Do not send it again. Read `GET /v1/calls/{id}`, or the ' +
    'route that the text names, later.',
  ask: 'A person must decide or change something: an operator, an approver, or the sender.',
} as const;

export type Action = keyof typeof ACTION_MEANINGS;

export const ACTION_NAMES = Object.keys(ACTION_MEANINGS) as Action[];

/** The properties of all errors with one code. */
export interface ErrorKind {
  /** HTTP status. */
  status: number;
  action: Action;
  /** What happened, and what the caller does next. A Problem can have a more specific text. */
  text: string;
  /** Seconds for `Retry-After`, if it is safe and useful to try again. */
  retryAfter?: number;
}

/** The kinds of errors that share a status and an action, by their codes and texts. */
export function kinds<Code extends string>(status: number, action: Action, texts: Record<Code, string>) {
  return each({ status, action }, texts);
}

/** The kinds of errors that share a `Retry-After`, too: a number of seconds. */
export function repeatable<Code extends string>(
  status: number,
  action: Action,
  retryAfter: number,
  texts: Record<Code, string>,
) {
  return each({ status, action, retryAfter }, texts);
}

function each<Code extends string>(
  shared: Omit<ErrorKind, 'text'>,
  texts: Record<Code, string>,
): Record<Code, ErrorKind> {
  const rows = Object.entries<string>(texts).map(([code, text]) => [code, { ...shared, text }]);
  return Object.fromEntries(rows) as Record<Code, ErrorKind>;
}
