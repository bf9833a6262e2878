import { isEmail } from 'class-validator';
import { namesOf } from '../../../operations/items/items';
import { Fault } from '../../../platform/errors/problem';
import { Line } from '../../../recipients/numbering-plan';
import { readRecipient, RECIPIENT_KINDS, RecipientKind } from '../../../recipients/recipient';
import { field } from './rules';
import { isText } from './text';

/** E.164: a plus, a country code without a leading zero, and at most 15 digits. */
const PHONE = /^\+[1-9]\d{6,14}$/;

/** A handle. The interface requires the @. Networks differ in the rest. */
const HANDLE = /^@[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** The longest deliverable address (RFC 5321, section 4.5.3.1.3, without its brackets). */
const MAX_EMAIL = 254;

/** Characters that addresses must not have, although RFC 5322 allows them in quotes. */
const NOT_IN_EMAIL = /[\s"\p{C}]/u;

/**
 * The recipient's email address. Optional if another field names the recipient (docs/reference/upstream.md,
 * "Credit item", rules 1 and 3).
 */
export const EmailOr = (other: string) =>
  field(
    {
      required: false,
      requiredIf: ({ [other]: name }) => name === undefined || name === '',
      must:
        `must be an email address of at most ${MAX_EMAIL} characters, or absent if ${other} names the ` +
        'recipient',
      test: isAddress,
    },
    {
      type: 'string',
      format: 'email',
      maxLength: MAX_EMAIL,
      description: `The recipient's email address. Each item needs it or \`${other}\`. It has precedence.`,
      example: 'ada@example.com',
    },
  );

/** A required email address. */
export const Email = (description: string) =>
  field(
    {
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
      required: false,
      must: 'must be a handle that begins with @ (letters, digits, _ . -), or empty if email is given',
      test: (value) =>
        value === '' || (typeof value === 'string' && isCanonical('handle', value) && HANDLE.test(value)),
    },
    {
      type: 'string',
      pattern: `^$|${HANDLE.source}`,
      maxLength: 65,
      description: "The recipient's handle, with its leading @. It may be empty if `email` is given.",
      example: '@ada',
    },
  );

/**
 * A phone number in international format with a leading + (docs/reference/upstream.md, "Airtime item").
 * @param line the kind of line that it must be able to have.
 */
export const PhoneNumber = ({
  required = true,
  description = "The recipient's phone number.",
  line = 'mobile',
}: PhoneRules = {}) =>
  field(
    {
      required,
      must: 'must be a phone number in international format: + and 7 to 15 digits without spaces',
      test: (value) => typeof value === 'string' && isCanonical('phone', value, line),
    },
    { type: 'string', pattern: PHONE.source, description, example: '+2348012345678' },
  );

interface PhoneRules {
  required?: boolean;
  description?: string;
  line?: Line;
}

/** The user ID of a sub-account, or a contact of its holder. */
export const Receiver = (description: string) =>
  field(
    {
      required: true,
      must: 'must be text of 1 to 100 characters, without control or invisible characters',
      test: (value) => typeof value === 'string' && isText(value, 100) && isCanonical('receiver', value),
    },
    { type: 'string', maxLength: 100, minLength: 1, description, example: 'sub-account-1' },
  );

/**
 * Adds the reason and a suggestion to the faults of recipients.
 * @param body as it was received.
 */
export function addSuggestions(faults: Fault[], body: object): void {
  for (const fault of faults) {
    const value = valueAt(body, fault.pointer);
    const kind = KINDS.get(fault.pointer.slice(fault.pointer.lastIndexOf('/') + 1));
    if (typeof value !== 'string' || !kind || value.length > MAX_EMAIL) continue;
    const spelling = readRecipient(kind, value, 'mobile');
    if ('canonical' in spelling) continue;
    if (spelling.reason !== undefined) fault.detail += `. ${spelling.reason}`;
    if (spelling.suggestion !== undefined) fault.suggestion = spelling.suggestion;
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

function isAddress(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_EMAIL || NOT_IN_EMAIL.test(value)) return false;
  return isEmail(value) && isCanonical('email', value);
}

function isCanonical(kind: RecipientKind, name: string, line?: Line): boolean {
  return 'canonical' in readRecipient(kind, name, line);
}

/** The kinds of the interface's fields for recipients. */
const KINDS = new Map<string, RecipientKind>(
  RECIPIENT_KINDS.flatMap((kind) => [...namesOf(kind)].map((name) => [name, kind] as const)),
);
