/**
 * npm run bench:beside: measures payments during the worker's heaviest work: a round of the resolver among
 * equal payments, a reconciliation run, and a backlog of seals. Each is measured between two rests of the
 * same proxy.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import pg from 'pg';
import { plant } from './history/planted.mjs';
import { machine } from './support/machine.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';

const require = createRequire(import.meta.url);
const { LOCKS } = require('../dist/platform/database/locks.js');
const { migrate, PROXY_MIGRATIONS } = require('../dist/platform/database/migrations/migrations.js');

/** Calls in doubt younger than this are not settled. */
const QUIET_SECONDS = 1;

const DAY_MS = 86_400_000;

const { size, payments, lost, rate, seconds, results } = new Command('npm run bench:beside --')
  .description('measure payments during the heaviest work of the worker')
  .option(
    '--size <number>',
    'payments of the reconciliation, and half the records of the backlog',
    Number,
    1_000_000,
  )
  .option('--payments <number>', 'equal payments to one receiver', Number, 50_000)
  .option('--lost <number>', 'payments of these without an answer', Number, 1_000)
  .option('--rate <number>', 'payments per second, in an open loop', Number, 200)
  .option('--seconds <number>', 'length of a rest', Number, 15)
  .option('--results <folder>', 'folder of beside.json', join(import.meta.dirname, 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:beside -- --size 100000 --payments 5000 --lost 100')
  .parse()
  .opts();

const measured = [];

await withScene(async (scene) => {
  await besideResolver(scene);
  await besideReconciliationAndSeals(scene);
  mkdirSync(results, { recursive: true });
  const all = { machine: machine(), size, payments, lost, rate, seconds, measured };
  writeFileSync(join(results, 'beside.json'), `${JSON.stringify(all, null, 2)}\n`);
});

async function besideResolver({ upstream, place, ask }) {
  const env = {
    WALLETS_EVERY_SECONDS: '0',
    RESOLVER_EVERY_SECONDS: '0',
    RESOLVER_QUIET_SECONDS: String(QUIET_SECONDS),
  };
  const product = await startProduct({ ...(await place('equal')), env });
  try {
    const round = { urls: product.urls, apiKey: product.apiKey, operation: 'wages', idempotencyKeys: false };
    upstream.tell({ lists: true, losesEach: Math.round(payments / lost) });
    await ask({ ...round, connections: 32, requests: payments });
    upstream.tell({ lists: false, losesEach: 0 });
    await sleep(2 * QUIET_SECONDS * 1_000);
    const load = loadOf(product, ask);
    await load.rest('before the round');
    const { in_doubt, verdicts } = await load.beside('the resolver', () =>
      post(product, '/v1/reconciliation/resolver/rounds'),
    );
    if (in_doubt < lost / 2) throw new Error(`only ${in_doubt} calls are in doubt`);
    process.stdout.write(`${verdicts.length} verdicts about ${in_doubt} calls in doubt\n`);
    await load.rest('after the round');
  } finally {
    await product.stop();
  }
}

async function besideReconciliationAndSeals({ upstream, place, ask }) {
  const dependencies = await place('planted');
  const to = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS).toISOString();
  const from = new Date(Date.parse(to) - DAY_MS).toISOString();
  const listing = `${dependencies.dataDir}-listing.json`;
  await migrate(dependencies.databaseUrl, PROXY_MIGRATIONS);
  const { wallets } = await plant(dependencies.databaseUrl, { items: size, from, to, file: listing });
  upstream.tell({ listing, wallets });
  const sealer = new pg.Client({ connectionString: dependencies.databaseUrl });
  await sealer.connect();
  await sealer.query(`SELECT pg_advisory_lock(${LOCKS.sealer})`); // The backlog waits for its turn.
  const product = await startProduct({
    ...dependencies,
    env: { WALLETS_EVERY_SECONDS: '0', RESOLVER_EVERY_SECONDS: '0' },
  });
  try {
    const load = loadOf(product, ask);
    await load.rest('before the run');
    await load.beside('a reconciliation run', () => runOnce(product, { from, to }));
    await load.rest('before the backlog');
    await sealer.end();
    await load.beside('a backlog of seals', () => sealed(product));
    await load.rest('after the backlog');
  } finally {
    await product.stop();
  }
}

/** Pays at a fixed rate, at rest or during some work. */
function loadOf({ urls, apiKey }, ask) {
  const round = { urls, apiKey, operation: 'airtime', connections: 64, idempotencyKeys: false, rate };
  const show = (result) => {
    measured.push(result);
    process.stdout.write(
      `${result.what.padEnd(24)} ${result.seconds.toFixed(0).padStart(5)} s  median ` +
        `${result.medianMs.toFixed(1).padStart(7)} ms  p99 ${result.p99Ms.toFixed(1).padStart(8)} ms\n`,
    );
  };
  return {
    rest: async (what) => show({ what, ...(await ask({ ...round, seconds })) }),
    /** Asks for more rounds of payments until the work has ended. The slowest of their quantiles count. */
    beside: async (what, work) => {
      let ended = false;
      const begun = performance.now();
      const working = work().finally(() => (ended = true));
      const rounds = [];
      while (!ended) rounds.push(await ask({ ...round, seconds: 5 }));
      const slowest = (quantile) => Math.max(...rounds.map((one) => one[quantile]));
      const requests = rounds.reduce((sum, one) => sum + one.requests, 0);
      const workSeconds = (performance.now() - begun) / 1_000;
      show({ what, seconds: workSeconds, requests, medianMs: slowest('medianMs'), p99Ms: slowest('p99Ms') });
      return working;
    },
  };
}

async function runOnce(product, period) {
  const { id } = await post(product, '/v1/reconciliation/runs', period);
  for (;;) {
    await sleep(250);
    const run = await get(product, `/v1/reconciliation/runs/${id}`);
    if (run.state === 'interrupted' || run.result === 'failed')
      throw new Error(`the run ended: ${run.failure}`);
    if (run.state === 'ended') return run;
  }
}

/** Resolves once everything is sealed. */
async function sealed({ workerUrls: [url] }) {
  for (;;) {
    await sleep(250);
    const text = await fetch(`${url}/metrics`).then((answer) => answer.text());
    if (Number(/^payout_proxy_log_lag_seconds (\S+)/m.exec(text)?.[1]) < 5) return;
  }
}

function post(product, path, body) {
  return answerOf(product, path, { method: 'POST', body: JSON.stringify(body ?? {}) });
}

function get(product, path) {
  return answerOf(product, path, {});
}

async function answerOf({ urls: [url], apiKey }, path, options) {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { ...options, headers });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
