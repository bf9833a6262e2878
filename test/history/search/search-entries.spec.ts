import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { BEGINNINGS, TAGS, termOf } from '../../../src/journal/lookups/search-terms';
import { ItemDocument, TransactionDocument } from '../../../src/journal/records/documents';
import { canonicalCountry, countryCodes } from '../../../src/recipients/country-name';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import { runs } from '../../support/examples/runs';
import { insertBeside, insertIntent, insertOutcomes } from '../../support/records/documents';

/** Entries of the search index and their batches, without a proxy that would index the records first. */
describe('the entries of the search index', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  const query: TestDatabase['query'] = (sql, parameters) => database.query(sql, parameters);

  async function addIntent({
    request = 'request',
    key = '',
    items = [{}] as ItemDocument[],
    claimed = 1,
  } = {}) {
    const about = { request_id: request, client_address: '2001:db8::1', actor: '', idempotency_key: key };
    return insertIntent(database, { ...about, item_count: claimed, items });
  }

  const entryOf = async (id: string) =>
    first(await query<Entry>('SELECT payouts, terms FROM call_entry WHERE call_id = $1', [id]));

  it('are built in small batches for calls with many payouts, within the statement timeout', async () => {
    for (let n = 0; n < 3; n += 1) await addIntent({ claimed: 500 });
    const seen: number[] = [];
    for (let more = true; more;) {
      more = first(await query<{ state: string }>('SELECT index_calls(10) AS state')).state === 'more';
      seen.push((await query('SELECT call_id FROM search_entry')).length);
    }
    expect([...new Set(seen)]).toEqual([1, 2, 3]);
  });

  it('have the terms of each payout, with its people and transactions', async () => {
    const id = await addIntent({
      items: [
        { amount_usd: '12.5', country: 'Kenya' },
        { receiver: 'Sub-1', reference: 'r 1', network_code: 'MPS', upstream_ref: 'chi-1' },
      ],
    });
    await insertBeside(database, id, { people: [{ position: 0, phone: '+254712345678' }] });
    const transactions = [
      { position: 1, upstream_ref: 'chi-1', upstream_id: 'tx-1' },
      { batch_ref: 'batch' },
    ];
    await insertOutcomes(database, [{ intent_id: id, items: transactions }]);
    const { payouts } = await entryOf(id);
    expect(payouts.map(toTerms)).toEqual([
      ['ref:batch'],
      ['^+25', '^+2547', '^+254712', '^+254712345', 'country:KE', 'item:25', 'to:+254712345678'],
      [
        '^sub',
        '^sub-1',
        'item:-10000',
        'network:MPS',
        'receiver:Sub-1',
        'ref:chi-1',
        'ref:tx-1',
        'reference:r 1',
      ],
    ]);
  });

  it('have the canonical form of a country that the search uses', async () => {
    const known = [...countryCodes().keys()];
    const names = [
      ...known,
      ...known.map((name) => `The ${name}`),
      ...fc.sample(fc.string({ unit: 'grapheme', minLength: 1 }), 500),
    ]
      .map((name) => name.replaceAll('\0', ''))
      .filter((name) => name !== '');
    const sql = `
      SELECT array_agg(canonical_country(name) ORDER BY place) AS found
      FROM unnest($1::text[]) WITH ORDINALITY AS n(name, place)`;
    const { found } = first(await query<{ found: string[] }>(sql, [names]));
    expect(found).toEqual(names.map(canonicalCountry));
  });

  it('have the terms that the search uses, for any values', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(item(), { maxLength: 4 }), transactions(), async (items, found) => {
        const id = await addIntent({ items: items.map(({ document }) => document) });
        const people = items.flatMap(({ person }, position) => (person ? [{ position, ...person }] : []));
        await insertBeside(database, id, { people });
        const answered = found.filter(({ position = 0 }) => position < items.length);
        await insertOutcomes(database, [{ intent_id: id, items: answered }]);
        const { payouts, terms } = await entryOf(id);
        const ofTransactions = (place: number | undefined) =>
          answered.filter(({ position }) => position === place).flatMap(refsOf);
        const expected = [
          ofTransactions(undefined),
          ...items.map((one, place) => [...termsOf(one), ...ofTransactions(place)]),
        ];
        expect(payouts.map(toTerms)).toEqual(expected.map(distinct));
        expect(terms).toEqual(expect.arrayContaining(expected.flat()));
        expect(terms).not.toContain('');
      }),
      { numRuns: runs(40) },
    );
  });

  it('are deleted by their whole key, however many payouts have the same amount', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 300; n += 1) ids.push(await addIntent({ items: [{ amount_usd: '5' }] }));
    await query('SELECT reindex_calls($1::uuid[])', [ids]);
    await query('INSERT INTO search_item SELECT n, gen_random_uuid() FROM generate_series(1, 50000) AS n');
    await query('ANALYZE search_entry, search_item');
    const read = await query<{ rows: number }>(
      `WITH again AS MATERIALIZED (SELECT reindex_calls($1::uuid[]))
       SELECT pg_stat_get_xact_tuples_returned('search_item_pkey'::regclass)::integer AS rows FROM again`,
      [ids.slice(0, 10)],
    );
    expect(first(read).rows).toBeLessThanOrEqual(10);
  });

  it('have the terms of the call, without empty values', async () => {
    const long = 'x'.repeat(301);
    const id = await addIntent({ request: 'terms', key: long, items: [] });
    const { terms } = await entryOf(id);
    expect(terms.filter((term) => !/^(week|hour):/.test(term)).sort()).toEqual([
      'address:2001:db8::1',
      `client:${id}`,
      termOf('idempotency:', long),
      `key:${id}`,
      'operation:POST /send',
      'request:terms',
      'state:in_progress',
      'total:-10000',
    ]);
  });
});

interface Entry {
  payouts: string[];
  terms: string[];
}

const distinct = (terms: string[]) => [...new Set(terms)].sort();
const toTerms = (payout: string) => distinct(payout.split('\n').slice(1));

interface Payout {
  document: ItemDocument;
  person: { email?: string; phone?: string; handle?: string } | undefined;
}

/** Returns the terms of a search for these values. */
function termsOf({ document, person = {} }: Payout): string[] {
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
  const beginnings = [...contacts, ...(receiver === undefined ? [] : [receiver])].flatMap((contact) =>
    BEGINNINGS.map((length) => [...contact.toLowerCase()].slice(0, length).join('')),
  );
  return [
    `item:${step}`,
    ...exact.flatMap(([tag, value]) => (value ? [termOf(tag, value)] : [])),
    ...beginnings.map((beginning) => `${TAGS.beginning}${beginning}`),
  ];
}

function refsOf({ upstream_ref, upstream_id, batch_ref }: TransactionDocument): string[] {
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

const item = (): fc.Arbitrary<Payout> =>
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

const transactions = (): fc.Arbitrary<TransactionDocument[]> =>
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
