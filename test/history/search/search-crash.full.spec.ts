import { Client } from 'pg';
import { IndexService } from '../../../src/history/search/index.service';
import { SearchService } from '../../../src/history/search/search.service';
import {
  startEmbeddedPostgres,
  EmbeddedPostgres,
} from '../../../src/platform/database/embedded/embedded-postgres';
import { LOCKS } from '../../../src/platform/database/locks';
import { migrate, PROXY_MIGRATIONS } from '../../../src/platform/database/migrations/migrations';
import { makeUpHistory } from '../../support/databases/history';
import { TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import { eventually } from '../../support/payments/paying';
import { removeDataDir } from '../../support/processes/data-dir';
import { newDataDir } from '../../support/processes/process';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const CALLS = 3_000;
const NEVER = () => Promise.reject(new Error('not with a server of its own'));

/** The index is not in the write-ahead log, so a crash of Postgres empties it. */
describe('the search index after a crash of Postgres', () => {
  const dataDir = newDataDir();
  let postgres: EmbeddedPostgres;
  let database: TestDatabase;
  let proxy: TestProxy;

  beforeAll(async () => {
    postgres = await startEmbeddedPostgres(dataDir);
    const { proxy: url, owner: ownerUrl, sandbox: sandboxUrl } = postgres.urls;
    await migrate(ownerUrl, PROXY_MIGRATIONS);
    const query = <Row extends object>(sql: string, parameters: unknown[] = []) =>
      asked<Row>(ownerUrl, (client) => client.query<Row>(sql, parameters));
    database = { url, ownerUrl, sandboxUrl, query, asTemplate: NEVER, close: () => Promise.resolve() };
    await oneSession(ownerUrl, (session) =>
      makeUpHistory({ ...database, query: session }, { calls: CALLS, days: 30 }),
    );
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' }, database);
  });
  afterAll(async () => {
    await proxy.close();
    await postgres.stop();
    removeDataDir(dataDir);
  });

  const count = async (table: string) =>
    first(await database.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${table}`)).count;

  /** Rebuilds the index like a worker. It may take longer than the wait of a search. */
  const filled = (index: IndexService) =>
    eventually(async () => {
      const { state } = await index.runOnce().catch(() => ({ state: 'more' }));
      if (state === 'unbuilt') await index.build();
      return state === 'done';
    });

  /** Kills a process of the server, which then ends all others and recovers from its log. */
  async function crash(): Promise<void> {
    await asked(postgres.urls.owner, async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const lost = new Promise((resolve) => client.once('error', resolve));
      process.kill(first(rows).pid, 'SIGKILL');
      await lost;
      return { rows: [] };
    });
    await eventually(() =>
      count('search_position').then(
        () => true,
        () => false,
      ),
    );
  }

  it('is rebuilt by a worker, and hides no call meanwhile', async () => {
    const index = proxy.app.get(IndexService, { strict: false });
    const searching = proxy.app.get(SearchService, { strict: false });
    await filled(index);
    const query = await searching.open({ country: 'Kenya' }, 'items');
    const before = { entries: await count('search_entry'), found: await searching.count(query) };
    expect(before.entries).toBe(CALLS);
    expect(before.found).toBeGreaterThan(100);
    // Otherwise it could be full before the check.
    const held = jest.spyOn(index, 'runOnce').mockResolvedValue({ state: 'done', progress: 1 });

    await crash();
    expect(await count('search_entry')).toBe(0);
    // Like an export in progress.
    await expect(searching.count(query)).rejects.toMatchObject({ code: '57P03' });
    const auditor = await proxy.client('auditor', 'audit');
    await proxy.get(auditor.key, '/v1/audit/calls').expect(503);
    await proxy.get(auditor.key, '/v1/audit/summary').expect(503);

    held.mockRestore();
    const worker = await proxy.startWorker();
    await filled(index);
    expect(await count('search_entry')).toBeGreaterThanOrEqual(CALLS);
    expect(await searching.count(query)).toBe(before.found);
    expect((await proxy.get(auditor.key, '/v1/audit/calls?page_size=7').expect(200)).body.calls).toHaveLength(
      7,
    );
    await worker.close(); // It would fill the index that the next test empties.
  });

  it('reports its progress', async () => {
    const index = proxy.app.get(IndexService, { strict: false });
    await database.query(
      `SELECT pg_advisory_xact_lock(${LOCKS.searchIndex}); TRUNCATE search_entry, search_item,
       search_name, search_slice,
        search_position`,
    );
    await database.query('SELECT index_calls(100)');
    const [{ progress } = { progress: 1 }] = await database.query<{ progress: number }>(
      'SELECT search_progress() AS progress',
    );
    expect(progress).toBeGreaterThan(0);
    expect(progress).toBeLessThan(1);
    await filled(index);
    expect(await database.query('SELECT search_progress() AS progress')).toEqual([{ progress: 1 }]);
  });

  it('finds calls of another server with higher transaction numbers', async () => {
    const index = proxy.app.get(IndexService, { strict: false });
    await filled(index);
    const before = await count('search_entry');
    const foreign = ['intent', 'outcome'].map((table) => `UPDATE ${table} SET tx = '9999999999'`);
    await database.query(`SET session_replication_role = replica; ${foreign.join('; ')}`);
    await database.query(
      `SELECT pg_advisory_xact_lock(${LOCKS.searchIndex}); TRUNCATE search_entry, search_item,
       search_name, search_slice,
        search_position`,
    );
    await filled(index);
    expect(await count('search_entry')).toBe(before);
    // Reads them once.
    expect(await database.query('SELECT index_calls(100) AS state')).toEqual([{ state: 'done' }]);
  });
});

async function asked<Row extends object>(
  url: string,
  ask: (client: Client) => Promise<{ rows: Row[] }>,
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await ask(client)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function oneSession(
  url: string,
  work: (query: TestDatabase['query']) => Promise<unknown>,
): Promise<void> {
  await asked(url, async (client) => {
    await work(async <Row extends object>(sql: string, parameters: unknown[] = []) => {
      const { rows } = await client.query<Row>(sql, parameters);
      return rows;
    });
    return { rows: [] };
  });
}
