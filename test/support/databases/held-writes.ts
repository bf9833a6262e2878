import { eventually } from '../payments/paying';
import { TestDatabase } from './test-database';

type Table = 'intent' | 'outcome';

/** In a transaction of the test: whatever writes to the table waits until that ends. */
export async function holdWrites(database: TestDatabase, table: Table): Promise<void> {
  await database.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
}

/** Resolves once so many statements wait for the table. */
export async function writesWait(database: TestDatabase, table: Table, count: number): Promise<void> {
  await eventually(async () => (await waiting(database, table)).length === count);
}

/**
 * Ends the statements that wait for the table, which would commit even without the proxies that sent them: as if the
 * database had stopped with them.
 */
export async function loseWrites(database: TestDatabase, table: Table): Promise<void> {
  for (const { pid } of await waiting(database, table)) await database.query('SELECT pg_terminate_backend($1)', [pid]);
}

function waiting(database: TestDatabase, table: Table): Promise<{ pid: number }[]> {
  return database.query(`SELECT pid FROM pg_locks WHERE relation = '${table}'::regclass AND NOT granted`);
}
