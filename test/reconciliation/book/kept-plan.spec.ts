import { Client } from 'pg';
import { makeUpHistory } from '../../support/databases/history';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';

const CALLS = 1_000;
const BATCH = 100;

describe('the kept plan of enter_calls()', () => {
  let database: TestDatabase;
  let db: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Client({ connectionString: database.ownerUrl });
    await db.connect();
  });
  afterAll(async () => {
    await db.end();
    await database.close();
  });

  const rowsRead = async () => {
    const { rows } = await db.query<{ read: number }>(
      `SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::float8 AS read
       FROM pg_stat_xact_user_tables WHERE relname ~ '^(book_transaction|client|intent|outcome|settlement)'`,
    );
    return rows[0]?.read ?? NaN;
  };

  /** Enters a batch. @returns the number of rows that it reads. */
  const enter = async (ids: string[]) => {
    await db.query('BEGIN');
    const before = await rowsRead();
    await db.query('SELECT enter_calls($1::uuid[])', [ids]);
    const read = (await rowsRead()) - before;
    await db.query('COMMIT');
    return read;
  };

  it('reads no whole table, though it was made while all were small', async () => {
    const { rows: tables } = await db.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
       WHERE relkind = 'r' AND relname ~ '^(book_transaction|client|intent|outcome|settlement)'`,
    );
    for (const { name } of tables) await db.query(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
    await makeUpHistory(database, { calls: 20, days: 1, random: 2 });
    await database.query(`DISCARD TEMP; UPDATE client SET name = 'former-' || name`);
    await db.query('ANALYZE'); // From now on, the planner expects small tables.
    await enter([]);
    await makeUpHistory(database, { calls: CALLS, days: 1 });
    const { rows } = await db.query<{ id: string }>('SELECT id::text AS id FROM intent ORDER BY id');
    const ids = rows.map(({ id }) => id);
    const read: number[] = [];
    for (let at = 0; at < ids.length; at += BATCH) read.push(await enter(ids.slice(at, at + BATCH)));
    expect(Math.max(...read)).toBeLessThan(6 * BATCH);
    const { rows: entered } = await db.query<{ id: string }>('SELECT id::text AS id FROM book_transaction');
    expect(entered.length).toBeGreaterThan(4 * BATCH);
  });
});
