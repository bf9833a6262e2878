import { StartError } from '../../platform/config/config';
import { FIELD_NAMES } from './faults';
import { isExact } from './free-form';
import { isText } from './rules/text';

export const MAX_EXTRA_CHARACTERS = 1_000;

export const NOT_EXTRA =
  `must be text of at most ${MAX_EXTRA_CHARACTERS} characters without control characters, true, false, or ` +
  'a number that keeps all its digits (write longer numbers as text)';

const UNIT_NAME = 'credit';

/** The field with which a request chooses the wallets that pay. */
const SUB_ACCOUNT = 'subAccount';

/** Words of paths and answers (docs/reference/upstream.md). As a unit name, they would have two meanings. */
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
 * Checks the names in the configuration: the provider's name for its unit, and EXTRA_FIELDS_ALLOWED, the
 * undocumented fields of public clients. The proxy forwards these fields and records them in the body.
 * @throws StartError for a field of the interface, which would lose its rules and its place in the record: no
 * cap would count an extra amount, and a list with the unit's name would replace the items.
 */
export function checkWords(unitName: string, extraFields: readonly string[]): void {
  const ofTheUnit = [unitName, `${unitName}s`];
  const taken = (name: string) => FIELD_NAMES.has(name) || TAKEN.includes(name);
  if (unitName !== UNIT_NAME && ofTheUnit.some(taken)) {
    throw new StartError(
      "UPSTREAM_UNIT_NAME must be the provider's own word, and not another word of the interface.",
    );
  }
  if (extraFields.includes(SUB_ACCOUNT)) {
    throw new StartError(
      `EXTRA_FIELDS_ALLOWED must not name ${SUB_ACCOUNT}, because the account of the client decides it. ` +
        'Set UPSTREAM_SUB_ACCOUNT, or add an account (docs/operate/upstream-accounts.md).',
    );
  }
  const known = extraFields.find((name) => FIELD_NAMES.has(name) || ofTheUnit.includes(name));
  if (known === undefined) return;
  throw new StartError(
    `EXTRA_FIELDS_ALLOWED must not name ${known}, because the interface defines that field. Remove it ` +
      'from the list.',
  );
}

/** Returns whether a value is allowed in an extra field: text, a number, or a boolean. */
export function isExtraValue(value: unknown): boolean {
  if (typeof value === 'string') return isText(value, MAX_EXTRA_CHARACTERS);
  return typeof value === 'boolean' || (typeof value === 'number' && isExact(value));
}
