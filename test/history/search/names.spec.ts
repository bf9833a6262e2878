import { windowsOf } from '../../../src/history/search/names';
import { Query } from '../../../src/history/search/pages';
import { SearchService } from '../../../src/history/search/search.service';
import { SummaryService } from '../../../src/history/search/summary.service';
import { uuidFloor } from '../../../src/platform/database/uuid';
import { first } from '../../support/examples/first';
import { succeed } from '../../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../../support/payments/paying';
import { copyIntent } from '../../support/records/intents';

const DAY_MS = 86_400_000;

/** A name is found by its hash. The hash only finds calls, and the text of their entries decides. */
describe('a search by a name', () => {
  let paying: PaymentScene;
  let searching: SearchService;
  let model: string;

  beforeAll(async () => {
    paying = await startPaying();
    searching = paying.proxy.app.get(SearchService, { strict: false });
    paying.upstream.behaviour = succeed;
    model = (await paying.pay().expect(200)).headers['x-call-id'] ?? '';
  });
  afterAll(() => paying.close());

  const query = (sql: string, values: unknown[] = []) => paying.proxy.database.query(sql, values);
  const found = async (search: object) => (await searching.search(search)).rows.map(({ id }) => id);
  const countOf = async (search: object) => searching.count(await searching.open(search, 'calls'));

  async function idAt(daysAgo: number): Promise<string> {
    const [row] = await query('SELECT overlay(new_id()::text PLACING $1 FROM 1 FOR 13) AS id', [
      uuidFloor(new Date(Date.now() - daysAgo * DAY_MS)).slice(0, 13),
    ]);
    return row?.id as string;
  }

  it.each([
    [{ request_id: 'collision' }, 'request_id'],
    [{ idempotency_key: 'collision' }, 'idempotency_key'],
    [{ reference: 'collision' }, 'reference'],
    [{ upstream_ref: 'collision' }, 'upstream_ref'],
    [{ upstream_ref: 'collision' }, 'upstream_id'],
    [{ recipient_prefix: 'collision@' }, 'beginning'],
  ])('does not find a call by %j that only shares the hash', async (search, column) => {
    const [name = ''] = Object.values(search);
    await query(`INSERT INTO search_name (call_id, ${column}) VALUES ($1, search_hash($2))`, [model, name]);
    const [row] = await query('SELECT calls_named($1, ARRAY[$2], 10) AS calls', [
      column.startsWith('upstream') ? 'transaction' : column,
      name,
    ]);
    expect(row?.calls).toEqual([model]);
    expect(await found(search)).toEqual([]);
    expect(await found({ ...search, sort: 'amount' })).toEqual([]);
    expect((await searching.search(search, 'items')).rows).toEqual([]);
    expect(await countOf(search)).toBe(0);
    const summary = await paying.proxy.app
      .get(SummaryService, { strict: false })
      .summarize(search, { reveal: true, gone: undefined, rests: false });
    expect(summary.groups).toEqual([]);
  });

  it.each([
    ['few', 0],
    ['many', 301],
  ])('finds calls of months among %s, newest first and in pages', async (request_id, others) => {
    const calls: string[] = [];
    for (const days of [0, 0.5, 3, 20, 100]) {
      const id = await idAt(days);
      await copyIntent(paying.proxy.database, model, { id, request_id });
      calls.push(id);
    }
    await found({});
    await query(
      'INSERT INTO search_name (call_id, request_id) SELECT $1, search_hash($2) FROM generate_series(1, $3)',
      [model, request_id, others],
    );
    expect(await found({ request_id })).toEqual(calls);
    const pages: string[] = [];
    for (let page_token: string | null | undefined; page_token !== null;) {
      const page = await searching.search({ request_id, page_size: 2, ...(page_token && { page_token }) });
      pages.push(...page.rows.map(({ id }) => id));
      page_token = page.nextPageToken;
    }
    expect(pages).toEqual(calls);
    const exported: string[] = [];
    for await (const batch of searching.walk(await searching.open({ request_id }, 'calls'), { batch: 2 }))
      exported.push(...batch.map(({ id }) => id));
    expect(exported).toEqual(calls.toReversed());
  });

  it('finds a name that most calls have, without its hashes', async () => {
    const id = await copyIntent(paying.proxy.database, model, { request_id: 'usual' });
    await found({});
    await query(
      `INSERT INTO search_name (call_id, request_id)
       SELECT $1, search_hash('usual') FROM generate_series(1, 10001)`,
      [model],
    );
    expect(await found({ request_id: 'usual' })).toEqual([id]);
    expect(await countOf({ request_id: 'usual' })).toBe(1);
  });

  it('finds a call as soon as it is indexed again, without hashes twice', async () => {
    const { 'x-call-id': id = '' } = (await paying.pay().expect(200)).headers;
    const ref = first(
      await query('SELECT upstream_ref AS ref FROM outcome_item WHERE intent_id = $1 LIMIT 1', [id]),
    ).ref as string;
    expect(await found({ upstream_ref: ref })).toEqual([id]);
    const names = () => query('SELECT * FROM search_name WHERE call_id = $1', [id]);
    const before = await names();
    await query('SELECT reindex_calls(ARRAY[$1]::uuid[], keep_names => TRUE)', [id]);
    expect(await names()).toEqual(before);
  });

  it('adds filters of filled page ranges only, and finds names with them', async () => {
    await query(
      `INSERT INTO search_name (call_id, reference)
       SELECT $1, search_hash('many' || n) FROM generate_series(1, 12000) AS n`,
      [model],
    );
    await copyIntent(paying.proxy.database, model, { request_id: 'after-many' });
    await found({}); // indexes
    const [state] = await query(
      `SELECT summarized, pg_relation_size('search_name') / 8192 / 16 AS filled FROM search_position`,
    );
    expect(state?.summarized).toBeGreaterThan(0);
    expect(String(state?.summarized)).toBe(String(state?.filled));
    const [row] = await query("SELECT calls_named('reference', ARRAY['many7'], 10) AS calls");
    expect(row?.calls).toEqual([model]);
    const [none] = await query("SELECT calls_named('reference', ARRAY['many0'], 10) AS calls");
    expect(none?.calls).toEqual([]);
  });
});

describe('the periods of a page', () => {
  const at = (day: number) => uuidFloor(new Date(Date.UTC(2026, 0, 1) + day * DAY_MS));
  const query = (more: Partial<Query>) =>
    ({ sort: 'time', direction: 'desc', listed: 'calls', ...more }) as Query;

  it('are adjacent, and cover the range of the search', () => {
    expect(windowsOf(query({ to: at(100) }), undefined)).toEqual([
      { from: at(99), to: at(100) },
      { from: at(84), to: at(99) },
      { from: at(-28), to: at(84) },
      { from: undefined, to: at(-28) },
    ]);
    expect(windowsOf(query({ direction: 'asc', from: at(3) }), undefined)).toEqual([
      { from: at(3), to: at(4) },
      { from: at(4), to: at(19) },
      { from: at(19), to: at(131) },
      { from: at(131), to: undefined },
    ]);
  });

  it('end within the range of the search', () => {
    expect(windowsOf(query({ from: at(90), to: at(100) }), undefined)).toEqual([
      { from: at(99), to: at(100) },
      { from: at(90), to: at(99) },
    ]);
  });

  it('are one by amount, and from the oldest call', () => {
    expect(windowsOf(query({ sort: 'amount', from: at(1) }), undefined)).toEqual([
      { from: at(1), to: undefined },
    ]);
    expect(windowsOf(query({ direction: 'asc' }), undefined)).toEqual([{ from: undefined, to: undefined }]);
  });
});
