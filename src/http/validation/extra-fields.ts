import { StartError } from '../../platform/config/config';
import { FIELD_NAMES } from './faults';
import { isExact } from './free-form';
import { isText } from './rules';

export const MAX_EXTRA_CHARACTERS = 1_000;

export const NOT_EXTRA = `must be text of at most ${MAX_EXTRA_CHARACTERS} characters without control characters, a number that keeps all its digits (write longer ones as text), true or false`;

const UNIT_NAME = 'credit';

/** Words of paths and answers (docs/reference/upstream.md). As the unit's word they would stand for two things at once. */
const TAKEN = [
  'payout',
  'airtime',
  'status',
  'data',
  'error',
  'message',
  'type',
  'code',
  'id',
  'fee',
  'balance',
  'owner',
];

/**
 * Looks at the words that the operator may choose: the provider's own word for its unit, and EXTRA_FIELDS_ALLOWED, the
 * fields that the interface does not document and public clients send all the same. Those are forwarded and recorded in the
 * body, and nothing reads them.
 * @throws StartError for a field of the interface. As an extra it would have neither its rules nor its place in the record:
 * an amount beside another one would be counted by no cap, and a list under the unit's word would replace the items.
 */
export function checkWords(unitName: string, extraFields: readonly string[]): void {
  const ofTheUnit = [unitName, `${unitName}s`];
  const taken = (name: string) => FIELD_NAMES.has(name) || TAKEN.includes(name);
  if (unitName !== UNIT_NAME && ofTheUnit.some(taken)) {
    throw new StartError(
      'UPSTREAM_UNIT_NAME is a word that the interface uses for something else; give the provider’s own',
    );
  }
  const known = extraFields.find((name) => FIELD_NAMES.has(name) || ofTheUnit.includes(name));
  if (known === undefined) return;
  throw new StartError(`EXTRA_FIELDS_ALLOWED names ${known}, a field with rules of its own; take it out of the list`);
}

/** What an extra field may hold: nothing that has an inside. */
export function isExtraValue(value: unknown): boolean {
  if (typeof value === 'string') return isText(value, MAX_EXTRA_CHARACTERS);
  return typeof value === 'boolean' || (typeof value === 'number' && isExact(value));
}
