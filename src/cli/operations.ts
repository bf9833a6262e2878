import { ClientError } from '../access/clients/client-error';
import { words } from '../platform/config/words';
import { OPERATION_NAMES as NAMES, sourceOf } from '../operations/catalogue';

/** The values of the options: comma-separated lists of names. */
export interface OperationOptions {
  operations?: string;
  withoutOperations?: string;
}

export const OPERATIONS_HELP = `
Give operations by name, or use one of the sets all (includes future operations), documented, and observed:
${NAMES.map((name) => `  ${name}`).join('\n')}`;

/**
 * Returns the operations that these options allow a client. Null means all.
 * @param current the operations that the client may use now, which apply without --operations.
 * @throws ClientError for an unknown name.
 */
export function chosenOperations(options: OperationOptions, current: string[] | null): string[] | null {
  const chosen = options.operations === undefined ? current : named(options.operations);
  if (options.withoutOperations === undefined) return chosen;
  const taken = named(options.withoutOperations) ?? NAMES;
  return (chosen ?? NAMES).filter((name) => !taken.includes(name));
}

function named(list: string): string[] | null {
  const given = words(list);
  const unknown = given.filter((word) => word !== 'all' && namesOf(word).length === 0);
  if (unknown.length > 0 || given.length === 0) {
    throw new ClientError(
      `Unknown operations: ${unknown.join(', ') || '(none given)'}. Use all, documented, observed, or these names: ${NAMES.join(', ')}.`,
    );
  }
  return given.includes('all') ? null : NAMES.filter((name) => given.some((word) => namesOf(word).includes(name)));
}

function namesOf(word: string): string[] {
  return NAMES.filter((name) => name === word || sourceOf(name) === word);
}

/** Returns how many operations a client may use, for tables. */
export function countOf(operations: string[] | null): string {
  return operations ? `${operations.length} of ${NAMES.length}` : 'all';
}
