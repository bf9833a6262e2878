import { isEmail } from 'class-validator';
import { field } from './rules';

/** E.164: a plus, a country code that begins with no zero, 15 digits at most; the shortest numbers in use have 7. */
const PHONE = /^\+[1-9]\d{6,14}$/;

/** The interface says "a leading @"; networks differ in the rest, so any of their usual characters pass. */
const HANDLE = /^@[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** Longest address that can be delivered to (RFC 5321, section 4.5.3.1.3, less its brackets). */
const MAX_EMAIL = 254;

/** What an address may not hold, though RFC 5322 would quote it: blanks, quotes, and characters that nobody sees. */
const NOT_IN_EMAIL = /[\s"\p{C}]/u;

/**
 * The recipient's e-mail address. It may be left out where another field names the recipient (docs/reference/upstream.md, "Credit item",
 * rules 1 and 3).
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

/** An e-mail address that must be given. */
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

/** The recipient's handle; empty is as good as left out, and both need an e-mail beside them. */
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
 * The number that was meant, where blanks, dashes, dots, brackets or a leading 00 are all that is wrong with it. A `(0)` is
 * dialled in some countries and not in others: of such a number nothing is said.
 */
export function suggestPhone(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 40 || /\(\s*0\s*\)/.test(value)) return undefined;
  const bare = value.replace(/[\s().\p{Pd}]/gu, '').replace(/^00/, '+');
  return PHONE.test(bare) ? bare : undefined;
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_EMAIL && !NOT_IN_EMAIL.test(value) && isEmail(value);
}
