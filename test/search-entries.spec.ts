import { ItemDocument } from '../src/journal/documents';
import { insertBeside, insertIntent, insertOutcomes } from './support/documents';
import { createTestDatabase, TestDatabase } from './support/test-database';
import { first } from './support/first';

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
      more = first(await query<{ more: boolean }>('SELECT index_calls(10) AS more')).more;
      seen.push((await query('SELECT DISTINCT call_id FROM search_entry')).length);
    }
    expect([...new Set(seen)]).toEqual([1, 2, 3]);
  });

  it('have the terms of searches for contacts, empty values and long values', async () => {
    const long = 'x'.repeat(301);
    const item = { country: '', network_code: long, reference: long, receiver: 'Sub-Account-1', upstream_ref: 'chi-7' };
    const id = await addIntent({ request: 'terms', key: long, items: [{}, item] });
    const contacts = { email: 'Ada@Example.com', phone: '+254', handle: '@Edsger_Dijkstra' };
    await insertBeside(database, id, { people: [{ position: 0, ...contacts }] });
    const [byFunctions] = await query(
      `SELECT array_agg(DISTINCT term) FILTER (WHERE term IS NOT NULL) AS terms FROM unnest(ARRAY[
         search_term('idempotency', $1), search_term('actor', ''), search_term('address', '2001:db8::1'),
         search_term('request', 'terms'), search_term('operation', 'POST /send'), search_term('to', 'ada@example.com'),
         search_term('to', '+254'), search_term('to', '@edsger_dijkstra'), search_term('country', ''),
         search_term('network', $1), search_term('reference', $1), search_term('receiver', 'Sub-Account-1'),
         search_term('ref', 'chi-7')] || search_beginnings('ada@example.com') || search_beginnings('+254')
         || search_beginnings('@edsger_dijkstra') || search_beginnings('sub-account-1')) AS term`,
      [long],
    );
    const [made] = await query(
      `SELECT array_agg(DISTINCT term) AS terms FROM call_entry CROSS JOIN unnest(terms) AS term
       WHERE call_id = $1 AND term !~ '^(week|hour|total|item|client|key|state):'`,
      [id],
    );
    expect(made?.terms).toEqual(byFunctions?.terms);
  });

  it('include transactions without a certain payout, and none for a missing payout', async () => {
    const id = await addIntent({ items: [{}, {}] });
    const positions = [0, undefined, undefined, 99];
    const transactions = positions.map((position, ordinal) => ({ position, upstream_ref: `chi-${ordinal}` }));
    await insertOutcomes(database, [{ intent_id: id, items: transactions }]);
    const rows = await query(
      `SELECT position, leads, ARRAY(SELECT term FROM unnest(terms) AS term WHERE term LIKE 'ref:%' ORDER BY 1) AS refs
       FROM call_entry WHERE call_id = $1 ORDER BY position`,
      [id],
    );
    expect(rows).toEqual([
      { position: -1, leads: false, refs: ['ref:chi-1', 'ref:chi-2'] },
      { position: 0, leads: true, refs: ['ref:chi-0'] },
      { position: 1, leads: false, refs: [] },
    ]);
  });
});
