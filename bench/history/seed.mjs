/** npm run seed -- --calls 1000000: a made-up history, for measurements. The first start of a database does the same for real. */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';

const require = createRequire(import.meta.url);
const { loadConfig } = require('../../dist/config/config.js');
const { writePrivateJson } = require('../../dist/config/private-file.js');
const { hashKey, newKey } = require('../../dist/clients/key.js');
const { startEmbeddedPostgres } = require('../../dist/database/embedded/embedded-postgres.js');
const { migrate, PROXY_MIGRATIONS } = require('../../dist/database/migrations.js');

/** Calls of one transaction: some seconds, and some megabytes of temporary tables. */
const BATCH = 50_000;
const DAY_MS = 86_400_000;

/** Whose keys a benchmark needs. */
const KEYS = { auditor: ['audit', 'audit:pii'], app: ['pay', 'write', 'read'] };

const wholeNumber = (text) => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1 to 999999999');
  return Number(text);
};

const options = new Command('npm run seed --')
  .description('fill a database that has no records yet with a made-up history; DATA_DIR or DATABASE_URL says which')
  .option('--calls <number>', 'how many calls', wholeNumber, 1_000_000)
  .option('--days <number>', 'over how many days, until now', wholeNumber, 180)
  .option('--seed <number>', 'the same number makes the same history', wholeNumber, 1)
  .option('--keys <file>', 'make an auditor and an app, and write their keys into this file')
  .parse()
  .opts();

const database = await open(loadConfig());
try {
  await seed(database.url, options);
} finally {
  await database.stop();
}

async function open({ databaseUrl, databaseOwnerUrl, dataDir }) {
  if (databaseUrl) return { url: databaseOwnerUrl ?? databaseUrl, stop: async () => undefined };
  const postgres = await startEmbeddedPostgres(dataDir, { joinRunning: true });
  return { url: postgres.urls.owner, stop: () => postgres.stop() };
}

async function seed(url, { calls, days, seed: random, keys }) {
  await migrate(url, PROXY_MIGRATIONS);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await requireEmpty(client);
    const end = new Date(Date.now() - 60_000); // what has no outcome by now is in doubt, not in progress
    const begin = new Date(end.getTime() - days * DAY_MS);
    await configure(client, { random, calls, begin: begin.toISOString(), end: end.toISOString() });
    await client.query("SET synchronous_commit = off; SET work_mem = '128MB'; SET timezone = 'UTC'; SET jit = off");
    await makePartitions(client, begin, end);
    await client.query(script('clients'));
    await insertCalls(client, calls);
    if (keys) await makeKeys(client, keys);
    await step('indexing', () => client.query('SELECT rebuild_search_index()'));
    await step('vacuuming', () => client.query('VACUUM ANALYZE'));
  } finally {
    await client.end();
  }
}

async function requireEmpty(client) {
  const { rows } = await client.query('SELECT FROM intent UNION ALL SELECT FROM refusal LIMIT 1');
  if (rows.length === 0) return;
  process.stderr.write('there are records in this database already; a made-up history has no place beside them\n');
  process.exit(1);
}

async function configure(client, settings) {
  for (const [name, value] of Object.entries(settings)) {
    await client.query('SELECT set_config($1, $2, false)', [`seed.${name}`, String(value)]);
  }
}

/** The proxy makes those of the months to come; these have passed. */
async function makePartitions(client, begin, end) {
  await client.query(
    `SELECT make_partition(parent, parent || to_char(month, '_YYYY_MM'),
       format('FOR VALUES FROM (%L) TO (%L)', uuid_floor(month), uuid_floor(month + interval '1 month')))
     FROM unnest(ARRAY['intent', 'intent_item', 'outcome', 'outcome_item', 'refusal', 'intent_body', 'item_recipient', 'outcome_body']) AS parent,
       generate_series(date_trunc('month', $1::timestamptz), $2::timestamptz, '1 month') AS month
     WHERE to_regclass(parent || to_char(month, '_YYYY_MM')) IS NULL`,
    [begin, end],
  );
}

async function insertCalls(client, calls) {
  const started = performance.now();
  const insert = script('calls');
  for (let first = 0; first < calls; first += BATCH) {
    const last = Math.min(first + BATCH, calls) - 1;
    await configure(client, { first, last });
    await client.query('BEGIN');
    await client.query(insert);
    await client.query('COMMIT');
    const seconds = (performance.now() - started) / 1_000;
    show(`${last + 1} of ${calls} calls, ${Math.round((last + 1) / seconds)}/s`);
  }
  process.stdout.write('\n');
}

async function makeKeys(client, file) {
  const keys = {};
  for (const [name, scopes] of Object.entries(KEYS)) {
    const id = uuidv7();
    keys[name] = newKey(name);
    await client.query('INSERT INTO client (id, name, scopes) VALUES ($1, $2, $3)', [id, name, scopes]);
    await client.query('INSERT INTO api_key (id, client_id, sha256, hint) VALUES ($1, $2, $3, $4)', [
      ...[uuidv7(), id, hashKey(keys[name]), keys[name].slice(-4)],
    ]);
  }
  writePrivateJson(file, keys);
}

async function step(name, work) {
  const started = performance.now();
  show(`${name} …`);
  await work();
  show(`${name}: ${((performance.now() - started) / 1_000).toFixed(1)} s`);
  process.stdout.write('\n');
}

function script(name) {
  return readFileSync(join(import.meta.dirname, 'seed', `${name}.sql`), 'utf8');
}

function show(text) {
  process.stdout.write(process.stdout.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
}
