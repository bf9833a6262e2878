import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { BEGINNINGS, TAGS, termOf } from '../../../src/journal/lookups/search-terms';
import { ItemDocument, TransactionDocument } from '../../../src/journal/records/documents';
import { canonicalCountry } from '../../../src/recipients/country-name';

export interface Payout {
  document: ItemDocument;
  person: { email?: string; phone?: string; handle?: string } | undefined;
}

/** Returns the terms of a payout by itself. */
export function textsOf({ document, person = {} }: Payout): string[] {
  const {
    amount_usd: usd,
    country,
    network_code: network,
    reference,
    upstream_ref: ref,
    receiver,
  } = document;
  const contacts = Object.values(person);
  const exact: [string, string | undefined][] = [
    [TAGS.country, country && canonicalCountry(country)],
    [TAGS.network, network],
    [TAGS.reference, reference],
    [TAGS.ref, ref],
    [TAGS.receiver, receiver],
    ...contacts.map((contact): [string, string] => [TAGS.to, contact.toLowerCase()]),
  ];
  const step =
    usd === undefined ? -10_000 : Number(usd) > 0 ? Math.floor(10 * Math.log(Number(usd))) : -9_999;
  return [`item:${step}`, ...exact.flatMap(([tag, value]) => (value ? [termOf(tag, value)] : []))];
}

export function contactsOf({ document: { receiver }, person = {} }: Payout): string[] {
  return [...Object.values(person), ...(receiver === undefined ? [] : [receiver])];
}

export const startOf = (contact: string, length: number) =>
  [...contact.toLowerCase()].slice(0, length).join('');

/** Returns the terms of a payout in its entry. */
export function termsOf(payout: Payout): string[] {
  const starts = contactsOf(payout).flatMap((contact) =>
    BEGINNINGS.map((length) => startOf(contact, length)),
  );
  return [
    ...textsOf(payout).filter((text) => !text.startsWith(TAGS.reference)),
    ...starts.map((start) => `${TAGS.beginning}${start}`),
  ];
}

export function refsOf({ upstream_ref, upstream_id, batch_ref }: TransactionDocument): string[] {
  return [upstream_ref, upstream_id, batch_ref].flatMap((id) => (id ? [termOf(TAGS.ref, id)] : []));
}

const ASCII = fc.integer({ min: 32, max: 126 }).map((code) => String.fromCodePoint(code));

/** Any text that the validation accepts. */
const valid = (text: string) => text.replace(/[\p{Cc}\p{Surrogate}]/gu, '');
const text = (minLength: number, maxLength: number) =>
  fc.string({ unit: 'grapheme', minLength, maxLength }).map(valid);
const contact = () =>
  fc.oneof(
    fc.constantFrom('ada@Example.com', '+254712345678', '@Edsger_Dijkstra', '', 'x'),
    fc.string({ unit: ASCII, maxLength: 320 }),
  );

export const item = (): fc.Arbitrary<Payout> =>
  fc.record({
    document: fc.record(
      {
        amount_usd: fc.integer({ min: 0, max: 1e9 }).map((cents) => new Decimal(cents).div(100).toFixed()),
        country: text(0, 320),
        network_code: text(0, 20),
        reference: text(290, 320),
        receiver: contact(),
        upstream_ref: fc.constant('chi-7'),
      },
      { requiredKeys: [] },
    ),
    person: fc.option(
      fc.record({ email: contact(), phone: contact(), handle: contact() }, { requiredKeys: [] }),
      {
        nil: undefined,
      },
    ),
  });

export const transactions = (): fc.Arbitrary<TransactionDocument[]> =>
  fc.array(
    fc.record(
      {
        position: fc.nat({ max: 3 }),
        upstream_ref: fc.constantFrom('chi-1', 'chi\n2', 'y'.repeat(301)),
        upstream_id: fc.constantFrom('tx-1', ''),
        batch_ref: fc.constant('batch'),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 4 },
  );
