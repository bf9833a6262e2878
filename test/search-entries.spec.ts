import fc from 'fast-check';
import { Decimal } from 'decimal.js';
import { v7 as uuidv7 } from 'uuid';
import { termOf, termsOf, transactionTermsOf } from '../src/journal/terms';
import { Item } from '../src/operations/item';
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

  async function addIntent({ request = 'request', key = '', items = 1, claimed = 1 } = {}) {
    const id = uuidv7();
    await query(
      `WITH item AS (
         INSERT INTO intent_item (intent_id, position, handle_ignored) SELECT $1, n, FALSE FROM generate_series(0, $2 - 1) AS n)
       INSERT INTO intent (id, client_id, key_id, operation, request_id, client_address, item_count, received_at, actor, idempotency_key)
       VALUES ($1, $1, $1, 'POST /send', $3, '2001:db8::1', $4, now(), '', $5)`,
      [id, items, request, claimed, key],
    );
    return id;
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

  const contact = () =>
    fc.oneof(
      fc.constantFrom('ada@Example.com', '+254712345678', '@Edsger_Dijkstra', '', 'x'),
      fc.string({ unit: ASCII, maxLength: 320 }),
    );
  const item = (): fc.Arbitrary<Item> =>
    fc.record({
      recipientField: fc.constant(null),
      handleIgnored: fc.constant(false),
      email: fc.option(contact()),
      phone: fc.option(contact()),
      handle: fc.option(contact()),
      amountUsd: fc.option(fc.integer({ min: 0, max: 1e9 }).map((cents) => new Decimal(cents).div(100))),
      country: fc.option(fc.string({ unit: 'grapheme', maxLength: 320 }).map(storable)),
      networkCode: fc.option(fc.string({ unit: 'grapheme', maxLength: 20 }).map(storable)),
      reference: fc.option(fc.string({ unit: 'grapheme', minLength: 290, maxLength: 320 }).map(storable)),
      receiver: fc.option(contact()),
      wallet: fc.constant(null),
      upstreamRef: fc.option(fc.constant('chi-7')),
    });

  it('have the terms of payouts and transactions that the journal makes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(item(), { maxLength: 4 }),
        fc.array(transaction(), { maxLength: 4 }),
        async (items, transactions) => {
          const id = await addIntent({ items: 0 });
          for (const [position, one] of items.entries()) {
            await query(
              `WITH person AS (INSERT INTO item_recipient (intent_id, position, salt, email, phone, handle) VALUES ($1, $2, '', $3, $4, $5))
             INSERT INTO intent_item (intent_id, position, handle_ignored, amount_usd, country, network_code, reference, receiver, upstream_ref)
             VALUES ($1, $2, FALSE, $6, $7, $8, $9, $10, $11)`,
              [
                id,
                position,
                one.email,
                one.phone,
                one.handle,
                one.amountUsd?.toFixed(),
                one.country,
                one.networkCode,
                one.reference,
                one.receiver,
                one.upstreamRef,
              ],
            );
          }
          for (const [ordinal, { position, upstreamRef, upstreamId, batchRef }] of transactions.entries()) {
            await query(
              `INSERT INTO outcome_item (intent_id, ordinal, position, upstream_ref, upstream_id, batch_ref) VALUES ($1, $2, $3, $4, $5, $6)`,
              [id, ordinal, position, upstreamRef, upstreamId, batchRef],
            );
          }
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
    const id = await addIntent({ request: 'terms', key: long, items: 0 });
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

/** A text that Postgres can store. The validation refuses control characters. */
const storable = (text: string) => text.replace(/[\p{Cc}\p{Surrogate}]/gu, '');

const transaction = () =>
  fc.record({
    position: fc.option(fc.nat({ max: 3 })),
    upstreamRef: fc.option(fc.constantFrom('chi-1', 'chi\n2', 'y'.repeat(301))),
    upstreamId: fc.option(fc.constantFrom('tx-1', '')),
    batchRef: fc.option(fc.constant('batch')),
  });
