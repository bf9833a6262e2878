import { BEGINNINGS, NAMED_BEGINNING, recipientTerm, TAGS, termOf } from '../../journal/lookups/search-terms';
import { Prisma } from '../../platform/database/generated/client';
import { plainText } from '../../recipients/plain-text';
import { contactOf } from '../../recipients/recipient';

/** Returns a text in lower case, by the rules of Postgres with and without a locale. */
function inLowerCase(text: string): string[] {
  return [...new Set([text.toLowerCase(), text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())])];
}

/**
 * Returns the terms of the payouts to a recipient in any spelling.
 * @param phones its possible numbers.
 */
export function recipientTerms(given: string, phones: string[]): string[] {
  const contact = contactOf(given) ?? contactOf(withPlus(given));
  const keys = [...(contact ? [contact.key] : []), ...phones].map(recipientTerm);
  return [...new Set([...keys, termOf(TAGS.receiver, plainText(given))])];
}

/** Restores an unescaped + of a query, which arrives as a space. No contact contains a space. */
const withPlus = (given: string) => given.replaceAll(' ', '+');

/** Returns the terms of the longest indexed part of the prefix. */
export function beginnings(prefix: string): Prisma.Sql {
  const length = BEGINNINGS.findLast((known) => [...prefix].length >= known) ?? 0;
  return Prisma.sql`${partsOf(prefix, length).map((part) => TAGS.beginning + part)}::text[]`;
}

/** Returns whether the prefix is long enough for a name. */
export const isNamed = (prefix: string) => [...prefix].length >= NAMED_BEGINNING;

/** Returns the names of the indexed part of the prefix. */
export const namedBeginnings = (prefix: string) => partsOf(prefix, NAMED_BEGINNING);

/** Returns the first characters of a prefix in each of its forms. */
function partsOf(prefix: string, length: number): string[] {
  const forms = [withPlus(prefix), prefix].map(plainText).flatMap(inLowerCase);
  return [...new Set(forms.map((text) => [...text].slice(0, length).join('')))];
}

/** Returns the condition that the recipient of a payout begins with a prefix. */
export function beginsWith(prefix: string): Prisma.Sql {
  const starts = (text: Prisma.Sql, start: Prisma.Sql) => Prisma.sql`strpos(${text}, ${start}) > 0`;
  const contacts = inLowerCase(plainText(withPlus(prefix))).map((contact) =>
    starts(Prisma.sql`payout`, Prisma.sql`${`\n${TAGS.to}${contact}`}::text`),
  );
  const receiver = Prisma.sql`lower(${`\n${TAGS.receiver}${prefix}`}::text)`;
  return Prisma.sql`(${Prisma.join([...contacts, starts(Prisma.sql`lower(payout)`, receiver)], ' OR ')})`;
}
