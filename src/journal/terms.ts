import { createHash } from 'node:crypto';
import { Item } from '../operations/item';

/**
 * The tags of the terms that the search index finds payouts by. A term is a tag and a value: `country:Kenya`. The SQL
 * views `payout_terms` and `transaction_terms` write the same terms.
 */
export const TAGS = {
  /** The step of the amount in US dollars. */
  item: 'item:',
  country: 'country:',
  network: 'network:',
  reference: 'reference:',
  /** Any ID of a transaction. */
  ref: 'ref:',
  /** An email, phone number or handle, in lower case. */
  to: 'to:',
  receiver: 'receiver:',
  /** The beginning of a contact or receiver, in lower case. */
  beginning: '^',
} as const;

/** The lengths of the indexed beginnings, in characters. */
export const BEGINNINGS = [3, 5, 7, 10] as const;

/** An index key has a limit of 2,712 bytes. */
const LONGEST = 300;
const KEPT = 200;

/** The steps of amounts that are none, and of amounts that are not positive. */
const [NO_AMOUNT, NOTHING] = [-10_000, -9_999];

/** The fields of a transaction that it is found by. */
export interface TransactionIds {
  /** The position of its item, if that is certain. */
  position: number | null;
  upstreamRef: string | null;
  upstreamId: string | null;
  batchRef: string | null;
}

/**
 * Returns the terms of each payout, one text each: every term follows a line break. The index is made of these texts,
 * so that nothing about payouts has to be computed later.
 * @param items in recorded form.
 */
export function termsOf(items: Item[]): string[] {
  return items.map((item) => {
    const contacts = [item.email, item.phone, item.handle];
    return [
      `\n${TAGS.item}${stepOf(item.amountUsd?.toNumber())}`,
      line(TAGS.country, item.country),
      line(TAGS.network, item.networkCode),
      line(TAGS.reference, item.reference),
      line(TAGS.ref, item.upstreamRef),
      ...contacts.map((contact) => line(TAGS.to, contact && contact.toLowerCase())),
      line(TAGS.receiver, item.receiver),
      ...[...contacts, item.receiver].map(beginningsOf),
    ].join('');
  });
}

/** Returns the terms of transactions: first of those without a certain payout, then of each payout. */
export function transactionTermsOf(transactions: TransactionIds[]): string[] {
  const terms: string[] = [];
  for (const { position, upstreamRef, upstreamId, batchRef } of transactions) {
    const place = (position ?? -1) + 1;
    while (terms.length <= place) terms.push('');
    terms[place] += [upstreamRef, upstreamId, batchRef].map((id) => line(TAGS.ref, id)).join('');
  }
  return terms;
}

/** Returns a term. A value that is too long for the index is replaced by its hash. */
export function termOf(tag: string, value: string): string {
  const isLong = value.length > LONGEST && [...value].length > LONGEST;
  if (!isLong && !value.includes('\n')) return tag + value;
  const beginning = firstOf(value, KEPT).replaceAll('\n', ' ');
  return `${tag}${beginning}#${createHash('sha256').update(value).digest('hex')}`;
}

/** Returns the step of an amount. Steps are a tenth of a power of e. No amount comes last. Rounding does not matter. */
export function stepOf(usd: number | undefined): number {
  if (usd === undefined) return NO_AMOUNT;
  return usd <= 0 ? NOTHING : Math.floor(10 * Math.log(usd));
}

function line(tag: string, value: string | null): string {
  return value === null || value === '' ? '' : `\n${termOf(tag, value)}`;
}

function beginningsOf(contact: string | null): string {
  if (contact === null) return '';
  const text = contact.toLowerCase();
  const size = [...text].length;
  return BEGINNINGS.map((length) => (size < length ? '' : `\n${TAGS.beginning}${firstOf(text, length)}`)).join('');
}

/** Returns the first characters of a text. A character outside the basic plane counts as one, as in Postgres. */
function firstOf(text: string, length: number): string {
  return [...text.slice(0, 2 * length)].slice(0, length).join('');
}
