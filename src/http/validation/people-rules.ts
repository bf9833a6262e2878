import { isEmail } from 'class-validator';
import { namesOf } from '../../operations/items';
import { Fault } from '../../platform/errors/problem';
import { withoutInvisible } from '../../platform/privacy/contacts';
import { field } from './rules';

/** E.164: a plus, a country code without a leading zero, and at most 15 digits. The shortest numbers in use have 7. */
const PHONE = /^\+[1-9]\d{6,14}$/;

/** The interface requires a leading @. Networks differ in the rest, so all their usual characters are allowed. */
const HANDLE = /^@[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** The longest deliverable address (RFC 5321, section 4.5.3.1.3, without its brackets). */
const MAX_EMAIL = 254;

/** Characters that RFC 5322 would quote, but that addresses must not have: spaces, quotes, and invisible characters. */
const NOT_IN_EMAIL = /[\s"\p{C}]/u;

/**
 * The recipient's email address. Optional if another field names the recipient (docs/reference/upstream.md, "Credit
 * item", rules 1 and 3).
 */
export const EmailOr = (other: string) =>
  field(
    {
      name: 'emailOr',
      required: false,
      requiredIf: ({ [other]: name }) => name === undefined || name === '',
      must: `must be an email address of at most ${MAX_EMAIL} characters, or absent if ${other} names the recipient`,
      test: isAddress,
    },
    {
      type: 'string',
      format: 'email',
      maxLength: MAX_EMAIL,
      description: `The recipient's email address. Each item needs it or \`${other}\`. With both, the email is used.`,
      example: 'ada@example.com',
    },
  );

/** A required email address. */
export const Email = (description: string) =>
  field(
    {
      name: 'email',
      required: true,
      must: `must be an email address of at most ${MAX_EMAIL} characters`,
      test: isAddress,
    },
    { type: 'string', format: 'email', maxLength: MAX_EMAIL, description, example: 'ada@example.com' },
  );

/** The recipient's handle. Empty counts as absent. Both require an email. */
export const Handle = () =>
  field(
    {
      name: 'handle',
      required: false,
      must: 'must be a handle that begins with @ (letters, digits, _ . -), or empty if email is given',
      test: (value) => value === '' || (typeof value === 'string' && HANDLE.test(value)),
    },
    {
      type: 'string',
      pattern: `^$|${HANDLE.source}`,
      maxLength: 65,
      description: "The recipient's handle, with its leading @. It may be empty if `email` is given.",
      example: '@ada',
    },
  );

/** A phone number in international format with a leading + (docs/reference/upstream.md, "Airtime item"). */
export const PhoneNumber = ({ required = true, description = "The recipient's phone number." } = {}) =>
  field(
    {
      name: 'phone',
      required,
      must: 'must be a phone number in international format: + and 7 to 15 digits without spaces',
      test: (value) => typeof value === 'string' && PHONE.test(value),
    },
    { type: 'string', pattern: PHONE.source, description, example: '+2348012345678' },
  );

/**
 * Adds to the faults of recipients what is probably meant, and that they have characters which nobody sees.
 * @param body as it was received.
 */
export function addSuggestions(faults: Fault[], body: object): void {
  for (const fault of faults) {
    const value = valueAt(body, fault.pointer);
    const suggest = SUGGESTIONS.get(fault.pointer.slice(fault.pointer.lastIndexOf('/') + 1));
    if (typeof value !== 'string' || !suggest) continue;
    if (withoutInvisible(value) !== value) fault.detail += '. It has an invisible character';
    const suggestion = suggest(value);
    if (suggestion !== undefined) fault.suggestion = suggestion;
  }
}

/** @param pointer of a field of the interface, whose names need no escapes. */
function valueAt(body: object, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined,
    body,
  );
}

/**
 * Returns the intended number if only spaces, dashes, dots, brackets, invisible characters or a leading 00 are wrong with it. A `(0)` is
 * dialed in some countries and not in others, so such a number gets no suggestion.
 */
export function suggestPhone(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 40 || /\(\s*0\s*\)/.test(value)) return undefined;
  const bare = withoutInvisible(value)
    .replace(/[\s().\p{Pd}]/gu, '')
    .replace(/^00/, '+');
  return PHONE.test(bare) ? bare : undefined;
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_EMAIL && !NOT_IN_EMAIL.test(value) && isEmail(value);
}

const bareIf = (isValid: (text: string) => boolean) => (value: string) => {
  const bare = withoutInvisible(value).trim();
  return isValid(bare) ? bare : undefined;
};

/** Returns what is probably meant by the value of a field, by the names of the interface's recipients. */
const SUGGESTIONS = new Map<string, (value: string) => string | undefined>([
  ...[...namesOf('email')].map((name) => [name, bareIf(isAddress)] as const),
  ...[...namesOf('handle')].map((name) => [name, bareIf((text) => HANDLE.test(text))] as const),
  ...[...namesOf('phone')].map((name) => [name, suggestPhone] as const),
]);
