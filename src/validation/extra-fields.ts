import { StartError } from '../config/config';
import { FIELD_NAMES } from './faults';
import { isExact } from './free-form';
import { isText } from './rules';

export const MAX_EXTRA_CHARACTERS = 1_000;

export const NOT_EXTRA = `must be text of at most ${MAX_EXTRA_CHARACTERS} characters without control characters, a number that keeps all its digits (write longer ones as text), true or false`;

/**
 * Looks at the names of EXTRA_FIELDS_ALLOWED: fields that the interface does not document and public clients send all the
 * same. They are forwarded and recorded in the body, and nothing reads them.
 * @throws StartError for a field of the interface. As an extra it would have neither its rules nor its place in the record:
 * an amount beside another one would be counted by no cap.
 */
export function checkExtraFields(names: readonly string[]): void {
  const known = names.find((name) => FIELD_NAMES.has(name));
  if (known === undefined) return;
  throw new StartError(`EXTRA_FIELDS_ALLOWED names ${known}, a field with rules of its own; take it out of the list`);
}

/** What an extra field may hold: nothing that has an inside. */
export function isExtraValue(value: unknown): boolean {
  if (typeof value === 'string') return isText(value, MAX_EXTRA_CHARACTERS);
  return typeof value === 'boolean' || (typeof value === 'number' && isExact(value));
}
