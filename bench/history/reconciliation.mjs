import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
/**
 * Measures the time and the memory of whole runs, with the listing over HTTP, and checks that they find all
 * planted differences and nothing else.
 */
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { makeFolder } from '../support/postgres.mjs';
import { check, plant } from './planted.mjs';
import { startProxy } from './running-proxy.mjs';
import { startStub } from './stub-upstream.mjs';

const require = createRequire(import.meta.url);
const { hashKey, newKey } = require('../../dist/access/clients/key.js');
const { startEmbeddedPostgres } = require('../../dist/platform/database/embedded/embedded-postgres.js');
const { LOCKS } = require('../../dist/platform/database/locks.js');
const { migrate, PROXY_MIGRATIONS } = require('../../dist/platform/database/migrations/migrations.js');

/** How often the progress of the run is read. */
const LOOK_MS = 50;

const options = new Command('npm run bench:reconciliation --')
  .description('measure a run against planted differences, each size in a database of its own')
  .option(
    '--sizes <list>',
    'comma-separated numbers of payments and transactions',
    (text) => text.split(',').map(Number),
    [10_000, 100_000, 1_000_000],
  )
  .option(
    '--results <file>',
    'file of the figures',
    join(import.meta.dirname, '..', 'results', 'reconciliation.json'),
  )
  .parse()
  .opts();

/** The last whole day, in UTC. */
const to = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000).toISOString();
const from = new Date(Date.parse(to) - 86_400_000).toISOString();

const results = [];
for (const size of options.sizes) {
  const before = results.at(-1);
  const result = await measure(size);
  result.timesTheTimeBefore = before && Number((result.seconds / before.seconds).toFixed(1));
  results.push(result);
  show(result);
}
mkdirSync(join(options.results, '..'), { recursive: true });
const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version };
writeFileSync(
  options.results,
  `${JSON.stringify({ measured: new Date().toISOString(), machine, results }, null, 2)}\n`,
);
if (results.some(({ missed, invented, residual }) => missed > 0 || invented > 0 || residual !== '0'))
  process.exitCode = 1;

async function measure(size) {
  const directory = makeFolder('payout-proxy-bench-');
  const listing = join(directory, 'listing.json');
  const postgres = await startEmbeddedPostgres(join(directory, 'data'));
  const stub = await startStub(listing);
  const owner = new pg.Client({ connectionString: postgres.urls.owner });
  try {
    await migrate(postgres.urls.owner, PROXY_MIGRATIONS);
    await owner.connect();
    const { wallets, ...rows } = await plant(postgres.urls.owner, { items: size, from, to, file: listing });
    stub.setWallets(wallets);
    await indexAll(owner);
    const key = await makeKey(owner);
    // Sealing is measured elsewhere. This lock keeps the proxy from sealing the planted history.
    await owner.query(`SELECT pg_advisory_lock(${LOCKS.sealer})`);
    const proxy = await startProxyOn(postgres.urls, stub.url, directory);
    try {
      const run = await runOnce(proxy, key);
      return { size, ...rows, ...run, ...(await check(owner, run.id)) };
    } finally {
      await proxy.stop();
    }
  } finally {
    await owner.end();
    await stub.stop();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Indexes the planted calls, which a running proxy does within seconds of each. */
async function indexAll(owner) {
  let state = 'more';
  while (state === 'more') {
    ({ state } = (await owner.query('SELECT index_calls(5000) AS state')).rows[0]);
  }
  await owner.query('ANALYZE');
}

function startProxyOn({ proxy, owner }, upstream, directory) {
  Object.assign(process.env, {
    DATABASE_URL: proxy,
    DATABASE_OWNER_URL: owner,
    DATA_DIR: directory,
    UPSTREAM_BASE_URL: upstream,
    UPSTREAM_API_KEY: 'planted-upstream-key',
    RESOLVER_EVERY_SECONDS: '0',
    FOLLOW_UP_EVERY_SECONDS: '0',
    WALLETS_EVERY_SECONDS: '0',
    RECONCILIATION_FEE_PERCENT: '1',
  });
  return startProxy();
}

async function makeKey(owner) {
  const id = uuidv7();
  const key = newKey('reconciler');
  await owner.query("INSERT INTO client (id, name, scopes) VALUES ($1, 'reconciler', '{reconcile}')", [id]);
  await owner.query('INSERT INTO api_key (id, client_id, sha256, hint) VALUES ($1, $2, $3, $4)', [
    uuidv7(),
    id,
    hashKey(key),
    key.slice(-4),
  ]);
  return key;
}

async function runOnce({ url, pid }, key) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  writeFileSync(`/proc/${pid}/clear_refs`, '5'); // On Linux, the largest resident set counts from here.
  const started = performance.now();
  const asked = await fetch(`${url}/v1/reconciliation/runs`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ from, to }),
  });
  if (asked.status !== 202) throw new Error(`the run was rejected: ${asked.status} ${await asked.text()}`);
  const { id } = await asked.json();
  const steps = {};
  let [step, since] = ['asked', started];
  for (;;) {
    const run = await (await fetch(`${url}/v1/reconciliation/runs/${id}`, { headers })).json();
    const now = performance.now();
    if (run.state === 'ended' || (run.progress && run.progress.step !== step)) {
      steps[step] = (steps[step] ?? 0) + (now - since) / 1_000;
      [step, since] = [run.progress?.step ?? 'ended', now];
    }
    if (run.state === 'ended') {
      if (run.result === 'failed') throw new Error(`the run failed: ${run.failure}`);
      const seconds = Number(((now - started) / 1_000).toFixed(2));
      return { id, seconds, steps, residual: run.totals.residual_usd, rssMb: peakMemory(pid) };
    }
    if (run.state === 'interrupted') throw new Error('the run was interrupted');
    await sleep(LOOK_MS);
  }
}

function peakMemory(pid) {
  const kib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return Math.round(kib / 1_024);
}

function show({
  ours,
  theirs,
  seconds,
  steps,
  rssMb,
  planted,
  found,
  invented,
  missed,
  residual,
  timesTheTimeBefore,
}) {
  const times = timesTheTimeBefore === undefined ? '' : `, ${timesTheTimeBefore} times the size before`;
  const each = Object.entries(steps).map(([name, took]) => `${name} ${took.toFixed(1)}`);
  console.log(
    `${ours} payments, ${theirs} transactions: ${seconds} s${times} (${each.join(', ')}), at most ` +
      `${rssMb} MB`,
  );
  console.log(
    `  planted ${planted}, found ${found}, invented ${invented}, missed ${missed}, residual ${residual} USD`,
  );
}
