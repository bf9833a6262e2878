import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { IndexService } from '../../../src/history/search/index.service';
import { SearchService } from '../../../src/history/search/search.service';
import { ReaderPrisma } from '../../../src/platform/database/pools/reader-prisma';
import { TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import { succeed } from '../../support/network/fake-upstream';
import { eventually, PaymentScene, startPaying } from '../../support/payments/paying';
import { insertIntent, insertOutcomes, insertSettlements } from '../../support/records/documents';
import { copyIntent } from '../../support/records/intents';

/** A search finds everything committed before it, in any order of writes and commits. */
describe('the search index', () => {
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

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const ids = async (search: object) => (await searching.search(search)).rows.map(({ id }) => id);
  const found = async (search: object) => (await ids({ ...search, page_size: 200 })).sort();

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: paying.proxy.database.ownerUrl });
    await client.connect();
    return client;
  }

  it('finds a call that commits after others with later IDs and later transactions', async () => {
    const request_id = 'late-commit';
    const [late, later] = [await connect(), await connect()];
    const ofLate = uuidv7();
    await late.query('BEGIN');
    await insertIntent(late, { id: ofLate, request_id });
    const ofLater = uuidv7();
    await insertIntent(later, { id: ofLater, request_id });
    expect(await found({ request_id })).toEqual([ofLater]);
    await insertIntent(later, { request_id: 'another' });
    expect(await found({ request_id })).toEqual([ofLater]);
    await late.query('COMMIT');
    expect(await found({ request_id })).toEqual([ofLate, ofLater]);
    await Promise.all([late.end(), later.end()]);
  });

  it('reads each record once, even while a long transaction delays the newest ones', async () => {
    const long = await connect();
    await long.query('BEGIN');
    await long.query('SELECT pg_current_xact_id()');
    await copyIntent(paying.proxy.database, model, { request_id: 'once' });
    expect(await found({ request_id: 'once' })).toHaveLength(1);
    const version = async () =>
      (
        await query('SELECT xmin::text FROM search_entry WHERE strpos(payouts[1], $1) > 0', ['request:once'])
      )[0]?.xmin;
    const before = await version();
    expect(await found({ request_id: 'once' })).toHaveLength(1);
    expect(await version()).toBe(before);
    await long.query('ROLLBACK');
    await long.end();
  });

  it('follows a call through outcome, decision, settlement and refusal', async () => {
    const id = await copyIntent(paying.proxy.database, model, {
      request_id: 'fate',
      recorded_at: '2026-01-01T00:00:00Z',
    });
    const held = await copyIntent(paying.proxy.database, model, {
      request_id: 'fate',
      held_for: 'x',
      expires_at: '2099-01-01T00:00:00Z',
    });
    const by = 'reason, client_id, key_id';
    expect(await found({ request_id: 'fate', outcome: 'unknown' })).toEqual([id]);
    expect(await found({ request_id: 'fate', approval: 'pending' })).toEqual([held]);
    await insertOutcomes(paying.proxy.database, [{ intent_id: id, kind: 'rejected' }]);
    expect(await found({ request_id: 'fate', outcome: 'rejected' })).toEqual([id]);
    const entries = [
      { position: 0, entry: 'paid' as const, from: 'available', to: 'recipient', upstream_ref: 'found' },
    ];
    await insertSettlements(paying.proxy.database, [{ intent_id: id, resolution: 'confirmed', entries }]);
    expect(await found({ request_id: 'fate', outcome: 'confirmed' })).toEqual([id]);
    expect(await found({ upstream_ref: 'found' })).toEqual([id]);
    await query(
      `INSERT INTO decision (intent_id, kind, ${by}, process)
       SELECT id, 'rejected', '', client_id, client_id, 0 FROM intent WHERE id = $1`,
      [held],
    );
    expect(await found({ request_id: 'fate', approval: 'rejected', outcome: 'declined' })).toEqual([held]);
    expect(await found({ request_id: 'fate', approval: 'pending' })).toEqual([]);
  });

  it('is updated concurrently, in batches of any size, with each payout once', async () => {
    const made: string[] = [];
    for (let n = 0; n < 30; n += 1)
      made.push(await copyIntent(paying.proxy.database, model, { request_id: 'many' }));
    const connections = await Promise.all(Array.from({ length: 6 }, () => connect()));
    await Promise.all(
      connections.map(async (connection, n) => {
        for (;;) {
          const { rows } = await connection.query<{ state: string }>('SELECT index_calls($1) AS state', [
            1 + n * 3,
          ]);
          if (first(rows).state === 'done') break;
        }
        await connection.end();
      }),
    );
    const rows = await query(
      `SELECT call_id::text AS id, cardinality(item_usd) AS count FROM search_entry
       WHERE payouts[1] LIKE '%request:many%' ORDER BY 1`,
    );
    const [{ items } = { items: 0 }] = await query(
      'SELECT count(*)::integer AS items FROM intent_item WHERE intent_id = $1',
      [model],
    );
    expect(rows).toEqual(made.sort().map((id) => ({ id, count: items })));
  });

  it('follows the records in the background, also after lost connections', async () => {
    const indexed = async (request: string) => {
      const rows = () =>
        query('SELECT FROM search_entry WHERE strpos(payouts[1], $1) > 0', [`request:${request}`]);
      await eventually(async () => (await rows()).length > 0);
    };
    await paying.proxy.startWorker();
    await copyIntent(paying.proxy.database, model, { request_id: 'background' });
    await indexed('background');
    await query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE usename = 'payout_proxy_login' AND datname = current_database()`,
    );
    await copyIntent(paying.proxy.database, model, { request_id: 'after-the-loss' });
    await indexed('after-the-loss');
  });

  it('is the same after a rebuild', async () => {
    const hashes = [
      'request_id',
      'idempotency_key',
      'reference',
      'upstream_ref',
      'upstream_id',
      'beginning',
    ].map(
      (name) => `ARRAY(SELECT ${name} FROM search_name n WHERE n.call_id = e.call_id AND ${name} IS NOT NULL
        ORDER BY 1) AS ${name}`,
    );
    const all = `
      SELECT e.*, ARRAY(SELECT i::text FROM search_item i WHERE i.call_id = e.call_id ORDER BY 1),
        ${hashes.join()}
      FROM search_entry e ORDER BY e.call_id`;
    await found({});
    const before = await query(all);
    await query('SELECT rebuild_search_index()');
    expect(await query(all)).toEqual(before);
    expect(before.length).toBeGreaterThan(30);
  });

  it('finds new records after a restore to a server with lower transaction numbers', async () => {
    await query("UPDATE search_position SET done = '900000000000:900000000000:'");
    await copyIntent(paying.proxy.database, model, { request_id: 'after-the-restore' });
    expect(await found({ request_id: 'after-the-restore' })).toHaveLength(1);
  });

  it('forgets an erased person, and keeps the call', async () => {
    const sql = 'SELECT coalesce(email, phone, handle) AS contact FROM item_recipient WHERE intent_id = $1';
    const { contact } = first(await query<{ contact: string }>(sql, [model]));
    const id = await copyIntent(paying.proxy.database, model, { request_id: 'erased' });
    expect(await found({ recipient: contact, request_id: 'erased' })).toEqual([id]);
    await query('UPDATE intent_body SET people = NULL WHERE intent_id = $1', [id]);
    await query('SELECT reindex_calls(ARRAY[$1]::uuid[])', [id]);
    expect(await found({ recipient: contact, request_id: 'erased' })).toEqual([]);
    expect(await found({ request_id: 'erased' })).toEqual([id]);
    const [entry] = await query('SELECT terms::text, payouts::text FROM search_entry WHERE call_id = $1', [
      id,
    ]);
    expect(entry?.terms).not.toContain(contact.toLowerCase().slice(0, 4));
    expect(entry?.payouts).not.toContain(contact.toLowerCase().slice(0, 4));
    const hashes = 'SELECT request_id FROM search_name WHERE call_id = $1 AND beginning IS NOT NULL';
    expect(await query(hashes, [id])).toEqual([]);
  });

  it('can only be read and updated by the proxy', async () => {
    const proxy = new Client({ connectionString: paying.proxy.database.url });
    await proxy.connect();
    for (const sql of [
      'DELETE FROM search_entry',
      'SELECT * FROM search_entry',
      'SELECT * FROM search_name',
      'UPDATE search_position SET target = NULL',
      'SELECT * FROM search_position',
      "SELECT reindex_calls('{}')",
      'SELECT drop_search_indexes()',
      'SELECT rebuild_search_index()',
      "INSERT INTO search_slice VALUES ('week', 1)",
    ]) {
      await expect(proxy.query(sql)).rejects.toThrow('permission denied');
    }
    await proxy.query('SELECT index_calls(10)');
    await proxy.end();
  });

  it('takes fewer records at once after a statement that took too long, and more again later', async () => {
    const index = paying.proxy.app.get(IndexService, { strict: false });
    await query('ALTER FUNCTION index_calls(integer) RENAME TO index_calls_in_time');
    await query(
      `CREATE FUNCTION index_calls(records integer) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
         IF records > 700 THEN RAISE 'statement timeout' USING ERRCODE = '57014'; END IF;
         RETURN index_calls_in_time(records);
       END $$`,
    );
    const sizes = jest.spyOn(paying.proxy.app.get(ReaderPrisma, { strict: false }), 'readLong');
    for (let tries = 0; tries < 3; tries += 1)
      await expect(index.runOnce()).rejects.toMatchObject({ code: '57014' });
    await copyIntent(paying.proxy.database, model, { request_id: 'in-a-small-batch' });
    expect(await found({ request_id: 'in-a-small-batch' })).toHaveLength(1);
    await query('DROP FUNCTION index_calls(integer)');
    await query('ALTER FUNCTION index_calls_in_time(integer) RENAME TO index_calls');
    for (let tries = 0; tries < 3; tries += 1) await index.runOnce();
    const asked = sizes.mock.calls.flatMap(([{ text, values }]) =>
      text.includes('index_calls') ? values : [],
    );
    expect(asked).toEqual([5_000, 2_500, 1_250, 625, 1_250, 2_500, 5_000]);
    sizes.mockRestore();
  });

  it('reports a backlog that is too long for a search', async () => {
    const index = paying.proxy.app.get(IndexService, { strict: false });
    const endless = jest.spyOn(index, 'runOnce').mockResolvedValue({ state: 'more', progress: 1 });
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now');
    clock.mockImplementation(() => now() + clock.mock.calls.length * 1_000);
    await expect(index.catchUp()).rejects.toMatchObject({ code: 'database_unavailable', retryAfter: 60 });
    endless.mockRestore();
    clock.mockRestore();
  });
});
