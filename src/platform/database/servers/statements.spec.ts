import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client } from 'pg';
import { createTestDatabase, TestDatabase } from '../../../../test/support/test-database';
import { ServerClient } from './server-client';

const STATEMENTS = 200;
const ROWS = 500;

/** What the rows of all statements take at least. Each has an object and a text of its own. */
const ALL_BYTES = STATEMENTS * ROWS * 100;

/** Runs a collection of V8's young generation, in which nothing but what lives should be copied. */
function youngCollector(): () => void {
  setFlagsFromString('--expose-gc'); // only contexts created now get `gc`
  const gc = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => gc({ type: 'minor' });
}

describe('Statements of a connection', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => client.end());
  afterAll(() => database.close());

  const connect = async (settings: { query_timeout: number }) => {
    client = new ServerClient({ connectionString: database.ownerUrl, ...settings });
    await client.connect();
  };

  it('leave no rows to young collections', async () => {
    await connect({ query_timeout: 60_000 });
    const collect = youngCollector();
    const ask = () => client.query(`SELECT n, repeat('x', 50) || n AS text FROM generate_series(1, ${ROWS}) AS n`);
    await ask();
    collect();
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < STATEMENTS; count += 1) {
      await ask();
      if (count % 20 === 0) collect();
    }
    collect();
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(ALL_BYTES / 4);
  });

  it('end with their connection if they are not answered in time', async () => {
    await connect({ query_timeout: 50 });
    const ended = new Promise((resolve) => client.once('end', resolve));
    await expect(client.query('SELECT pg_sleep(60)')).rejects.toThrow('Query read timeout');
    await ended;
    await expect(client.query('SELECT 1')).rejects.toThrow(/not queryable|connection error/);
  });

  it('take callbacks, with values and without', async () => {
    await connect({ query_timeout: 60_000 });
    const plain = await new Promise((resolve) => client.query('SELECT 1 AS one', (_error, { rows }) => resolve(rows)));
    const text = await new Promise((resolve) =>
      client.query('SELECT $1::text AS one', ['a'], (_error, { rows }) => resolve(rows)),
    );
    const error = await new Promise((resolve) => client.query('SELECT 1/0', (one) => resolve(one)));
    expect([plain, text]).toEqual([[{ one: 1 }], [{ one: 'a' }]]);
    expect(error).toMatchObject({ code: '22012' });
  });
});
