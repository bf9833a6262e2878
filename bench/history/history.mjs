import { readFileSync } from 'node:fs';
/** Fills a database with a generated history, as fast as two connections can. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import pg from 'pg';
import { startProgress } from '../support/progress.mjs';
import { dropSlowIndexes, finishSearchIndex } from './bulk.mjs';

const require = createRequire(import.meta.url);
const { migrate, PROXY_MIGRATIONS } = require('../../dist/platform/database/migrations/migrations.js');

/** Calls of one transaction. It takes some seconds, and some megabytes of temporary tables. */
const BATCH = 25_000;
/** Number of connections. More than cores bring nothing. */
const CONNECTIONS = 2;
const DAY_MS = 86_400_000;

const SETTINGS =
  "SET synchronous_commit = off; SET work_mem = '128MB'; SET maintenance_work_mem = '1GB'; SET timezone " +
  "= 'UTC'; SET jit = off";

/** Thrown for a database that has records, because a generated history must not mix with them. */
export class NotEmpty extends Error {}

/**
 * @param url of the database, as its owner.
 * @param history how many calls, over how many days, until now. The same seed makes the same history, except
 * for its salts.
 * @returns how long it took: {callsPerSecond, seconds}.
 */
export async function fill(url, { calls, days, seed, name = 'calls' }) {
  await migrate(url, PROXY_MIGRATIONS);
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(url)));
  const [first] = clients;
  try {
    await requireEmpty(first);
    const end = new Date(Date.now() - 60_000); // A call without an outcome is then in doubt, not in progress.
    const begin = new Date(end.getTime() - days * DAY_MS);
    const settings = { random: seed, calls, begin: begin.toISOString(), end: end.toISOString() };
    for (const client of clients) await configure(client, settings);
    await makePartitions(first, begin, end);
    await first.query(script('clients'));
    const indexes = await dropSlowIndexes(first);
    const seconds = await insertCalls(clients, calls, name);
    const indexing = startProgress(`${name}: indexing`);
    await finishSearchIndex(clients, indexes);
    const vacuuming = startProgress(`${name}: vacuuming`, (indexing.end(), undefined));
    await vacuum(clients);
    vacuuming.end();
    return { seconds, callsPerSecond: calls / seconds };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function connect(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(SETTINGS);
  return client;
}

async function requireEmpty(client) {
  const { rows } = await client.query('SELECT FROM intent UNION ALL SELECT FROM refusal LIMIT 1');
  if (rows.length > 0) throw new NotEmpty('this database already has records');
}

async function configure(client, settings) {
  for (const [name, value] of Object.entries(settings)) {
    await client.query('SELECT set_config($1, $2, false)', [`seed.${name}`, String(value)]);
  }
}

/** Creates the partitions of past months. The proxy creates only those of future ones. */
async function makePartitions(client, begin, end) {
  await client.query(
    `SELECT make_partition(parent, parent || to_char(month, '_YYYY_MM'),
       format('FOR VALUES FROM (%L) TO (%L)', uuid_floor(month), uuid_floor(month + interval '1 month')))
     FROM unnest(ARRAY['intent', 'outcome', 'refusal', 'intent_body', 'outcome_body']) AS parent,
       generate_series(date_trunc('month', $1::timestamptz), $2::timestamptz, '1 month') AS month
     WHERE to_regclass(parent || to_char(month, '_YYYY_MM')) IS NULL`,
    [begin, end],
  );
}

/** Inserts all calls. Each connection takes the next batch. */
async function insertCalls(clients, calls, name) {
  const progress = startProgress(name, calls);
  const insert = script('calls') + script('entries');
  let next = 0;
  const work = async (client) => {
    await client.query(script('session'));
    while (next < calls) {
      const first = next;
      next = Math.min(first + BATCH, calls);
      const last = next - 1;
      await configure(client, { first, last });
      await client.query(`BEGIN; ${insert}; COMMIT`);
      progress.add(last - first + 1);
    }
  };
  await Promise.all(clients.map(work));
  return progress.end();
}

/** Vacuums the tables, the largest first, so that the last ones are short. */
async function vacuum(clients) {
  const { rows } = await clients[0].query(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r'
      AND relnamespace = 'public'::regnamespace
     ORDER BY pg_table_size(oid) DESC`,
  );
  const work = async (client) => {
    for (let table = rows.shift(); table; table = rows.shift())
      await client.query(`VACUUM ANALYZE ${table.name}`);
  };
  await Promise.all(clients.map(work));
  await clients[0].query('ANALYZE');
}

function script(name) {
  return readFileSync(join(import.meta.dirname, 'seed', `${name}.sql`), 'utf8');
}
