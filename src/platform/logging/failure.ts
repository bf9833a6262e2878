import { StartError } from '../config/config';
import { causeOf } from '../database/pools/unavailable';
import { describeError } from './logging';

/** Maximum number of described causes. */
const MOST_CAUSES = 4;

/** Returns the reason for the end of a process, for standard error. */
export function failure(what: string, error: unknown): string {
  return error instanceof StartError ? error.message : unexpectedFailure(what, error);
}

/**
 * Returns the failure and its known cause, and the details for an engineer: the class, the code and the stack
 * of the error and of its causes. Omits messages of libraries, because they can quote secrets and people.
 * @param what the subject of the sentence, such as `database backup`.
 */
export function unexpectedFailure(what: string, error: unknown): string {
  const described = chainOf(error).map(describeError);
  const details = described.map(({ type, code, at = [] }, index) =>
    [
      `  ${index > 0 ? 'caused by ' : ''}${[type, code].filter(Boolean).join(' ')}`,
      ...at.map((line) => `    ${line}`),
    ].join('\n'),
  );
  return `${what} failed: ${reasonOf(error)} The details follow.\n${details.join('\n')}`;
}

function reasonOf(error: unknown): string {
  const cause = chainOf(error).find((one) => isOfFile(one) || causeOf(one) !== undefined);
  if (cause === undefined) return 'an unknown error occurred. A part of the work may be done.';
  if (isOfFile(cause)) return `${cause.syscall} ${cause.path} (${cause.code}).`;
  const { code } = describeError(cause);
  return (
    `the database failed (${code ?? 'no answer in time'}). Check that it runs, and whether the work was ` +
    'done.'
  );
}

interface FileError extends Error {
  code: string;
  syscall: string;
  path: string;
}

/** Returns whether the system refused a file or a folder. Node's text then has the code and the path only. */
function isOfFile(error: unknown): error is FileError {
  const { code, syscall, path } = error as Partial<FileError>;
  return (
    error instanceof Error &&
    typeof code === 'string' &&
    typeof syscall === 'string' &&
    typeof path === 'string'
  );
}

/** Returns an error and its causes. Prisma keeps the error of the driver elsewhere. */
function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (
    let one: unknown = error;
    one !== undefined && one !== null && chain.length < MOST_CAUSES;
    one = causeIn(one)
  )
    chain.push(one);
  return chain;
}

function causeIn(error: unknown): unknown {
  const { cause, meta } = error as { cause?: unknown; meta?: { driverAdapterError?: unknown } };
  return cause ?? meta?.driverAdapterError;
}
