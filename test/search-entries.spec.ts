import fc from 'fast-check';
import { Decimal } from 'decimal.js';
import { ItemDocument } from '../src/journal/documents';
import { termOf, termsOf, TransactionIds, transactionTermsOf } from '../src/journal/terms';
import { Item } from '../src/operations/item';
import { insertBeside, insertIntent, insertOutcomes } from './support/documents';
import { createTestDatabase, TestDatabase } from './support/test-database';
import { first } from './support/first';
import { runs } from './support/runs';

/** What the search index makes of records, and how many at a time; without a proxy that would index them first. */
describe('the entries of the search index', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  const query: TestDatabase['query'] = (sql, parameters) => database.query(sql, parameters);

  async function addIntent({ request = 'request', key = '', items = [{}] as ItemDocument[], claimed = 1 } = {}) {
    const about = { request_id: request, client_address: '2001:db8::1', actor: '', idempotency_key: key };
    return insertIntent(database, { ...about, item_count: claimed, items });
  }

  it('are built from few calls at a time if these have many payouts, so that each statement ends in time', async () => {
    for (let n = 0; n < 3; n += 1) await addIntent({ claimed: 500 });
    const seen: number[] = [];
    for (let more = true; more;) {
      more = first(await query<{ state: string }>('SELECT index_calls(10) AS state')).state === 'more';
      seen.push((await query('SELECT call_id FROM search_entry')).length);
    }
    expect([...new Set(seen)]).toEqual([1, 2, 3]);
  });

  it('have the terms of payouts and transactions that the journal makes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(item(), { maxLength: 4 }),
        fc.array(transaction(), { maxLength: 4 }),
        async (items, transactions) => {
          const id = await addIntent({ items: items.map(toDocument) });
          const people = items.map(({ email, phone, handle }, position) => ({
            position,
            email: email ?? undefined,
            phone: phone ?? undefined,
            handle: handle ?? undefined,
          }));
          await insertBeside(database, id, { people });
          await insertOutcomes(database, [{ intent_id: id, items: transactions.map(toTransactionDocument) }]);
          const entry = first(
            await query<Entry>('SELECT payouts, refs, terms FROM call_entry WHERE call_id = $1', [id]),
          );
          expect(entry.payouts).toEqual(termsOf(items));
          expect(entry.refs).toEqual(transactionTermsOf(transactions));
          const made = [...entry.payouts, ...entry.refs].join('').split('\n').slice(1);
          expect(entry.terms).toEqual(expect.arrayContaining(made));
          expect(entry.terms).not.toContain('');
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it('have the terms of the call, without empty values', async () => {
    const long = 'x'.repeat(301);
    const id = await addIntent({ request: 'terms', key: long, items: [] });
    const { terms } = first(await query<Entry>('SELECT terms FROM call_entry WHERE call_id = $1', [id]));
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
  refs: string[];
  terms: string[];
}

const ASCII = fc.integer({ min: 32, max: 126 }).map((code) => String.fromCodePoint(code));

/** A text that the validation accepts. */
const valid = (text: string) => text.replace(/[\p{Cc}\p{Surrogate}]/gu, '');
const text = (minLength: number, maxLength: number) =>
  fc.option(fc.string({ unit: 'grapheme', minLength, maxLength }).map(valid));
const contact = () =>
  fc.option(
    fc.oneof(
      fc.constantFrom('ada@Example.com', '+254712345678', '@Edsger_Dijkstra', '', 'x'),
      fc.string({ unit: ASCII, maxLength: 320 }),
    ),
  );

const item = (): fc.Arbitrary<Item> =>
  fc.record({
    recipientField: fc.constant(null),
    handleIgnored: fc.constant(false),
    email: contact(),
    phone: contact(),
    handle: contact(),
    amountUsd: fc.option(fc.integer({ min: 0, max: 1e9 }).map((cents) => new Decimal(cents).div(100))),
    country: text(0, 320),
    networkCode: text(0, 20),
    reference: text(290, 320),
    receiver: contact(),
    wallet: fc.constant(null),
    upstreamRef: fc.option(fc.constant('chi-7')),
  });

const toDocument = ({ amountUsd, country, networkCode, reference, receiver, upstreamRef }: Item): ItemDocument => ({
  amount_usd: amountUsd?.toFixed(),
  country: country ?? undefined,
  network_code: networkCode ?? undefined,
  reference: reference ?? undefined,
  receiver: receiver ?? undefined,
  upstream_ref: upstreamRef ?? undefined,
});

const transaction = (): fc.Arbitrary<TransactionIds> =>
  fc.record({
    position: fc.option(fc.nat({ max: 3 })),
    upstreamRef: fc.option(fc.constantFrom('chi-1', 'chi\n2', 'y'.repeat(301))),
    upstreamId: fc.option(fc.constantFrom('tx-1', '')),
    batchRef: fc.option(fc.constant('batch')),
  });

const toTransactionDocument = ({ position, upstreamRef, upstreamId, batchRef }: TransactionIds) => ({
  position: position ?? undefined,
  upstream_ref: upstreamRef ?? undefined,
  upstream_id: upstreamId ?? undefined,
  batch_ref: batchRef ?? undefined,
});
