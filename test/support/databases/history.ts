import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestDatabase } from './test-database';

const SEED = join(__dirname, '..', '..', '..', 'bench', 'history', 'seed');

/** Writes a generated history with the SQL of `npm run seed`. An update of the index makes it searchable. */
export async function makeUpHistory(
  database: TestDatabase,
  { calls, days, random = 1 }: { calls: number; days: number; random?: number },
) {
  const end = new Date(Date.now() - 60_000);
  const begin = new Date(end.getTime() - days * 86_400_000);
  const settings = {
    random,
    calls,
    begin: begin.toISOString(),
    end: end.toISOString(),
    first: 0,
    last: calls - 1,
  };
  for (const [name, value] of Object.entries(settings)) {
    await database.query('SELECT set_config($1, $2, false)', [`seed.${name}`, String(value)]);
  }
  await database.query("SET timezone = 'UTC'");
  const run = (name: string) => database.query(readFileSync(join(SEED, `${name}.sql`), 'utf8'));
  await run('clients');
  await run('session');
  await database.query('BEGIN');
  await run('calls');
  await database.query('COMMIT');
}
