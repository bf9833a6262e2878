import { eventually } from '../payments/paying';
import { TestDatabase } from './test-database';

type Table = 'intent' | 'outcome';

/** Blocks all writes to the table until the test's transaction ends. */
export async function holdWrites(database: TestDatabase, table: Table): Promise<void> {
  await database.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
}

/** Resolves once this many statements wait for the table. */
export async function writesWait(database: TestDatabase, table: Table, count: number): Promise<void> {
  await eventually(async () => (await waiting(database, table)).length === count);
}

/**
 * Ends the statements that wait for the table, as if the database had stopped with the proxies. Otherwise
 * they would commit without them.
 */
export async function loseWrites(database: TestDatabase, table: Table): Promise<void> {
  for (const { pid } of await waiting(database, table))
    await database.query('SELECT pg_terminate_backend($1)', [pid]);
}

function waiting(database: TestDatabase, table: Table): Promise<{ pid: number }[]> {
  return database.query(`SELECT pid FROM pg_locks WHERE relation = '${table}'::regclass AND NOT granted`);
}
