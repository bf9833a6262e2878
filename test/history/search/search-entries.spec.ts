import fc from 'fast-check';
import { NAMED_BEGINNING, TAGS, termOf } from '../../../src/journal/lookups/search-terms';
import { ItemDocument } from '../../../src/journal/records/documents';
import { canonicalCountry, countryCodes } from '../../../src/recipients/country-name';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import { runs } from '../../support/examples/runs';
import { insertBeside, insertIntent, insertOutcomes } from '../../support/records/documents';
import { contactsOf, item, refsOf, startOf, termsOf, textsOf, transactions } from './entry-values';

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
    first(
      await query<Entry>(
        `SELECT payouts, terms, request_id, idempotency_key, reference, upstream_ref, upstream_id, beginning
         FROM call_entry WHERE call_id = $1`,
        [id],
      ),
    );

  /** Returns the hashes of these names, without duplicates. */
  const hashesOf = async (names: (string | undefined)[]) => {
    const sql = 'SELECT DISTINCT search_hash(name) AS hash FROM unnest($1::text[]) AS name ORDER BY 1';
    return (await query<{ hash: string }>(sql, [names.filter((name) => name)])).map(({ hash }) => hash);
  };
  const sorted = (hashes: string[] | null) =>
    [...new Set(hashes)].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));

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
    const { payouts, terms, ...names } = await entryOf(id);
    expect(payouts.map(toTerms)).toEqual([
      ['ref:batch', 'request:request'],
      ['country:KE', 'item:25', 'to:+254712345678'],
      ['item:-10000', 'network:MPS', 'receiver:Sub-1', 'ref:chi-1', 'ref:tx-1', 'reference:r 1'],
    ]);
    const starts = ['^+25', '^+2547', '^+254712', '^sub', '^sub-1'];
    const inRequest = ['country:KE', 'network:MPS', 'receiver:Sub-1', 'to:+254712345678', 'ref:chi-1'];
    expect(terms).toEqual(expect.arrayContaining([...starts, ...inRequest, 'ref:batch']));
    expect(terms.filter((term) => /^(request|idempotency|reference|ref:tx)/.test(term))).toEqual([]);
    expect(names.request_id).toEqual((await hashesOf(['request']))[0]);
    expect(names.reference).toEqual(await hashesOf(['r 1']));
    expect(names.upstream_ref).toEqual(await hashesOf(['chi-1']));
    expect(names.upstream_id).toEqual(await hashesOf(['tx-1']));
    expect(sorted(names.beginning)).toEqual(await hashesOf(['sub-1', '+254712345']));
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

  it('read the table of country names once for each plan, not for each payout', async () => {
    // A function that is not inlined converts or copies its constants each time, which is most of an entry.
    const plan = await query(
      "EXPLAIN (VERBOSE) SELECT canonical_country(n.name) FROM json_to_recordset('[]') AS n(name text)",
    );
    expect(JSON.stringify(plan)).not.toMatch(/canonical_country|country_code/);
    const sql = `
      SELECT proname AS name FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND prosrc ~ $1`;
    expect(await query(sql, [String.raw`\yCONSTANT\s+jsonb?\y[^;]*:=\s*'[^']*'\s*;`])).toEqual([]);
  });

  it('have the terms that the search uses, for any values', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(item(), { maxLength: 4 }), transactions(), async (items, found) => {
        const id = await addIntent({ items: items.map(({ document }) => document) });
        const people = items.flatMap(({ person }, position) => (person ? [{ position, ...person }] : []));
        await insertBeside(database, id, { people });
        const answered = found.filter(({ position = 0 }) => position < items.length);
        await insertOutcomes(database, [{ intent_id: id, items: answered }]);
        const { payouts, terms, ...names } = await entryOf(id);
        const ofTransactions = (place: number | undefined) =>
          answered.filter(({ position }) => position === place).flatMap(refsOf);
        const expected = [
          [...ofTransactions(undefined), 'request:request'],
          ...items.map((one, place) => [...textsOf(one), ...ofTransactions(place)]),
        ];
        expect(payouts.map(toTerms)).toEqual(expected.map(distinct));
        const batches = answered.flatMap(({ batch_ref: ref }) => (ref ? [termOf(TAGS.ref, ref)] : []));
        const inTerms = [...items.flatMap(termsOf), ...ofTransactions(undefined), ...batches];
        expect(terms).toEqual(expect.arrayContaining(inTerms));
        expect(terms).not.toContain('');
        const inNames = items.map(({ document }) => document.reference);
        expect(sorted(names.reference)).toEqual(await hashesOf(inNames));
        expect(sorted(names.upstream_ref)).toEqual(
          await hashesOf(answered.map(({ upstream_ref: ref }) => ref)),
        );
        expect(sorted(names.upstream_id)).toEqual(
          await hashesOf(answered.map(({ upstream_id: one }) => one)),
        );
        const named = items.flatMap(contactsOf).map((contact) => startOf(contact, NAMED_BEGINNING));
        expect(sorted(names.beginning)).toEqual(await hashesOf(named));
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
    const { payouts, terms, ...names } = await entryOf(id);
    expect(payouts).toEqual([`\n${termOf(TAGS.idempotency, long)}\nrequest:terms`]);
    expect([names.idempotency_key]).toEqual(await hashesOf([long]));
    expect(terms.filter((term) => !/^(week|hour):/.test(term)).sort()).toEqual([
      'address:2001:db8::1',
      `client:${id}`,
      `key:${id}`,
      'operation:POST /send',
      'state:in_progress',
      'total:-10000',
    ]);
  });
});

interface Entry {
  payouts: string[];
  terms: string[];
  request_id: string | null;
  idempotency_key: string | null;
  reference: string[] | null;
  upstream_ref: string[] | null;
  upstream_id: string[] | null;
  beginning: string[] | null;
}

const distinct = (terms: string[]) => [...new Set(terms)].sort();
const toTerms = (payout: string) => distinct(payout.split('\n').slice(1));
