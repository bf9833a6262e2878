import { RecordsService } from '../../../src/history/records/records.service';
import { sliced } from '../../../src/history/search/pages';
import { CallSearch } from '../../../src/history/search/search.dto';
import { SearchService } from '../../../src/history/search/search.service';
import { SummarySearch } from '../../../src/history/search/summary.dto';
import { SummaryService } from '../../../src/history/search/summary.service';
import { readCallStates } from '../../../src/journal/admission/call-states';
import { Prisma } from '../../../src/platform/database/generated/client';
import { ReaderPrisma } from '../../../src/platform/database/pools/reader-prisma';
import { uuidFloor } from '../../../src/platform/database/uuid';
import { readSentCalls } from '../../../src/reconciliation/in-doubt/calls-in-doubt';
import { makeUpHistory } from '../../support/databases/history';
import { first } from '../../support/examples/first';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const CALLS = 20_000;
const DAYS = 90;
const WEEK_MS = 7 * 86_400_000;
const RECORDS = /Seq Scan on (search_entry|intent|intent_body|outcome|refusal|decision|settlement)/;

/** Searches must not read whole tables. */
describe('a search plan', () => {
  let proxy: TestProxy;
  let searching: SearchService;
  /** Queries of the index. */
  let queries: Prisma.Sql[];
  let one: Record<string, string>;

  const explain = async (sql: string, values: unknown[]) => {
    const rows = await proxy.database.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(sql, values);
    return first(first(rows)['QUERY PLAN']).Plan;
  };

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    await makeUpHistory(proxy.database, { calls: CALLS, days: DAYS });
    await proxy.database.query('SELECT rebuild_search_index()');
    searching = proxy.app.get(SearchService, { strict: false });
    const prisma = proxy.app.get(ReaderPrisma, { strict: false });
    const ask = prisma.$queryRaw.bind(prisma);
    jest.spyOn(prisma, '$queryRaw').mockImplementation((sql, ...values) => {
      queries.push('text' in sql ? sql : Prisma.sql(sql, ...values));
      return ask(sql, ...values);
    });
    const readLong = prisma.readLong.bind(prisma);
    jest.spyOn(prisma, 'readLong').mockImplementation((question, signal) => {
      queries.push(question as Prisma.Sql);
      return readLong(question, signal);
    });
    queries = [];
    const [{ id = '' } = {}] = (
      await searching.search({ operation: 'POST /payouts/mobile-money', outcome: 'succeeded' })
    ).rows;
    const [call] = await proxy.app.get(RecordsService, { strict: false }).list([id], true);
    const item = call?.items[0];
    one = {
      key: call?.key_id ?? '',
      request_id: call?.request_id ?? '',
      recipient: item?.recipient.phone ?? '',
      reference: item?.reference ?? '',
      upstream_ref: item?.upstream?.upstream_ref ?? '',
    };
  });
  afterAll(() => proxy.close());

  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

  async function check(search: CallSearch, listed: 'calls' | 'items'): Promise<number> {
    queries = [];
    const { rows } = await searching.search(search, listed);
    expect(queries.length).toBeGreaterThan(0);
    for (const { text, values } of queries) {
      const plan = await proxy.database.query(`EXPLAIN ${text}`, values);
      const lines = plan.map((row) => row['QUERY PLAN'] as string).join('\n');
      expect([search, RECORDS.exec(lines)?.[0]]).toEqual([search, undefined]);
    }
    return rows.length;
  }

  const FILTERS: [name: string, search: () => CallSearch][] = [
    ['nothing', () => ({})],
    ['from', () => ({ from: ago(30) })],
    ['to', () => ({ to: ago(30) })],
    ['a day', () => ({ from: ago(31), to: ago(30) })],
    ['client', () => ({ client: 'shop' })],
    ['a client that made no call', () => ({ client: 'nobody' })],
    ['key', () => ({ key: one.key as string })],
    ['actor', () => ({ actor: 'clerk-1' })],
    ['operation', () => ({ operation: 'POST /account/transfer' })],
    ...['succeeded', 'unknown', 'pending_approval', 'in_progress', 'refused'].map(
      (outcome) => [`outcome ${outcome}`, () => ({ outcome })] as [string, () => CallSearch],
    ),
    ['in doubt', () => ({ in_doubt: 'true' })],
    ['not in doubt', () => ({ in_doubt: 'false' })],
    ['approval', () => ({ approval: 'expired' })],
    ['recipient', () => ({ recipient: one.recipient as string })],
    ['recipient, as it is dialled at home', () => ({ recipient: `0${one.recipient?.slice(4)}` })],
    ['recipient_prefix', () => ({ recipient_prefix: '+2547' })],
    ['country', () => ({ country: 'Kenya' })],
    ['network_code', () => ({ network_code: 'VCL' })],
    ['reference', () => ({ reference: one.reference as string })],
    ['amounts of payouts', () => ({ min_item_usd: '99', max_item_usd: '101' })],
    ['amounts of calls', () => ({ min_total_usd: '900' })],
    ['upstream_ref', () => ({ upstream_ref: one.upstream_ref as string })],
    ['idempotency_key', () => ({ idempotency_key: 'order-17' })],
    ['request_id', () => ({ request_id: one.request_id as string })],
    ['client_address', () => ({ client_address: '192.0.2.3' })],
    ['1: client + country', () => ({ client: 'shop', country: 'Nigeria' })],
    [
      '2: client + country that have nothing in common',
      () => ({ client: 'shop', operation: 'POST /account/transfer', country: 'Mali' }),
    ],
    [
      '3: client + operation + outcome + a month',
      () => ({
        client: 'rewards',
        operation: 'POST /payouts/mobile-money',
        outcome: 'rejected',
        from: ago(60),
        to: ago(30),
      }),
    ],
    ['4: rejected + large', () => ({ outcome: 'rejected', min_item_usd: '400' })],
    ['5: actor + address', () => ({ actor: 'clerk-3', client_address: '192.0.2.5' })],
    ['6: in doubt + client', () => ({ in_doubt: 'true', client: 'shop' })],
    ['7: beginning + network', () => ({ recipient_prefix: '+254', network_code: 'MPS' })],
    [
      '8: recipient + reference',
      () => ({ recipient: one.recipient as string, reference: one.reference as string }),
    ],
    [
      '9: recipient + transaction',
      () => ({ recipient: one.recipient as string, upstream_ref: one.upstream_ref as string }),
    ],
    ['10: amounts + a day', () => ({ min_total_usd: '50', max_total_usd: '60', from: ago(31), to: ago(30) })],
  ];

  it.each(FILTERS)('uses an index: %s', async (_name, search) => {
    const deep = (await searching.search({ ...search(), page_size: 200 })).nextPageToken;
    await check(search(), 'calls');
    await check({ ...search(), sort: 'amount' }, 'calls');
    await check({ ...search(), sort: 'amount' }, 'items');
    if (deep) await check({ ...search(), page_token: deep }, 'calls');
  });

  it.each<[string, (prisma: never, ids: string[]) => Promise<Iterable<unknown>>]>([
    ['records', (_prisma, ids) => proxy.app.get(RecordsService, { strict: false }).list(ids, true)],
    ['calls in doubt', (prisma, ids) => readSentCalls(prisma, ids, 60_000)],
    ['states', (prisma, ids) => readCallStates(prisma, ids, 60)],
  ])('looks %s of several months up by their IDs', async (_what, read) => {
    const sql = `SELECT id::text FROM intent WHERE id < uuid_floor(now() - interval '5 days') ORDER BY id`;
    const ids = (await proxy.database.query<{ id: string }>(sql)).map(({ id }) => id);
    queries = [];
    const prisma = proxy.app.get<ReaderPrisma, never>(ReaderPrisma, { strict: false });
    const some = ids.filter((_id, index) => index % 90 === 0);
    const found = [...(await read(prisma, some))];
    expect(found.length).toBeGreaterThan(100);
    for (const { text, values } of queries) {
      const plan = await proxy.database.query(`EXPLAIN ${text}`, values);
      const lines = plan.map((row) => row['QUERY PLAN'] as string).join('\n');
      expect(/Seq Scan on (intent|intent_body|outcome)(_\w+)?\b/.exec(lines)?.[0]).toBeUndefined();
    }
  });

  it('can defer the count, with the same result', async () => {
    const summaries = proxy.app.get(SummaryService, { strict: false });
    const count = (search: SummarySearch, rests: boolean) =>
      summaries.summarize(search, { reveal: true, gone: undefined, rests });
    const resting = () => queries.filter(({ text }) => text.includes('pg_sleep'));
    for (const group_by of ['day', 'client', 'operation', 'country', 'outcome'] as const) {
      const searches = [{ group_by }, { group_by, min_item_usd: '20' }];
      queries = [];
      const all = await Promise.all(searches.map((search) => count(search, false)));
      expect(resting()).toEqual([]);
      expect(all.filter(({ groups }) => groups.length <= 1)).toEqual([]);
      // Two at once, because each mostly sleeps. More would wait for a connection.
      expect(await Promise.all(searches.map((search) => count(search, true)))).toEqual(all);
      expect(resting()).toHaveLength(searches.length);
    }
  });

  it('starts a deep page at its position, and reads as little as for the first page', async () => {
    const sql = 'SELECT id::text FROM intent ORDER BY id OFFSET 500 LIMIT 1';
    const { id } = first(await proxy.database.query<{ id: string }>(sql));
    const token = Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
    for (const search of [{}, { country: 'Kenya' }, { outcome: 'not_sent' }]) {
      queries = [];
      await searching.search({ ...search, page_size: 20, page_token: token });
      const blocks = await Promise.all(
        queries.map(async ({ text, values }) => {
          const plan = await explain(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
          return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        }),
      );
      // The index has some 5,000 entries. Rare terms are looked up by hour in two weeks.
      expect(Math.max(...blocks)).toBeLessThan(2 * 168 * 8);
    }
  });

  it('reads a day for a page of frequent results, not a whole week', async () => {
    // Weeks are counted from 1970-01-01.
    const thursday = new Date(Math.floor(Date.parse(ago(40)) / WEEK_MS) * WEEK_MS);
    const lists = { terms: [], anyOf: [], others: [], ofPayouts: [], hints: [], names: [] };
    const conditions = { ...lists, decided: true, rare: true, few: false };
    const from = uuidFloor(thursday);
    const query = { conditions, from, listed: 'calls', sort: 'time', direction: 'asc' } as const;
    const { text, values } = sliced(query, undefined, 51);
    const read = rowsRead(await explain(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values));
    expect(read).toBeGreaterThan(50);
    expect(read).toBeLessThan(((CALLS / DAYS) * 7) / 2);
  });

  it.each([
    [{ outcome: 'in_progress' }, 'search_entry_in_progress'],
    [{ outcome: 'pending_approval' }, 'search_entry_expires_at'],
    [{ approval: 'pending' }, 'search_entry_expires_at'],
  ])('finds %j by time, not among all past calls', async (search: CallSearch, index) => {
    queries = [];
    await searching.search(search);
    const { text, values } = queries.at(-1) as Prisma.Sql;
    const plan = await proxy.database.query(`EXPLAIN ${text}`, values);
    const steps = plan.map((row) => row['QUERY PLAN'] as string).join('\n');
    expect(steps).toContain(index);
    expect(steps).not.toContain('search_slice'); // Each slice would read all of it.
  });
});

/** A step of a plan in EXPLAIN's JSON. */
interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** Returns the number of read rows of the index's table in a plan. */
function rowsRead(plan: Plan): number {
  const own = plan['Relation Name'] === 'search_entry' ? plan['Actual Rows'] * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part), own);
}
