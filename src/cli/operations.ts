import { ClientError } from '../access/clients/client-error';
import { words } from '../platform/config/words';
import { OPERATION_NAMES as NAMES, rowOf } from '../operations/catalogue';

/** As the options give them: lists of names, comma-separated. */
export interface OperationOptions {
  operations?: string;
  withoutOperations?: string;
}

export const OPERATIONS_HELP = `
Operations are given by their names, or as all (those to come included), documented or observed:
${NAMES.map((name) => `  ${name}`).join('\n')}`;

/**
 * What a client may use by these options; null: all.
 * @param current what it may use now, for where --operations is left out.
 * @throws ClientError for a name there is not.
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
      `unknown operations: ${unknown.join(', ') || '(none given)'}; there are all, documented, observed, ${NAMES.join(', ')}`,
    );
  }
  return given.includes('all') ? null : NAMES.filter((name) => given.some((word) => namesOf(word).includes(name)));
}

function namesOf(word: string): string[] {
  return NAMES.filter((name) => name === word || rowOf(name).source === word);
}

/** How many of the operations a client may use, for a table. */
export function countOf(operations: string[] | null): string {
  return operations ? `${operations.length} of ${NAMES.length}` : 'all';
}
