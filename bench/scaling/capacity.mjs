/**
 * npm run bench:scaling:capacity: measures what a call costs at 1 to 128 connections, with and without a
 * worker, on this disk and with slower commits. bench/scaling/model.mjs computes the capacity of a cell from
 * it.
 */
import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Command } from 'commander';
import { costs, settle } from '../support/costs.mjs';
import { machine } from '../support/machine.mjs';
import { startProduct } from '../support/product.mjs';
import { withScene } from '../support/scene.mjs';
import { startTurns } from '../support/turns.mjs';
import { countersOf } from './counters.mjs';
import { median, medianOf, rounded } from './figures.mjs';
import { slowCommits } from './slow-commits.mjs';

const WARM_UP_REQUESTS = 4_000;
/** Postgres writes pages of this size. */
const PAGE = Buffer.alloc(8_192);
const SYNCS = 200;

const numbers = (text) => text.split(',').map(Number);
const { connections, syncs, seconds, rounds, results } = new Command('npm run bench:scaling:capacity --')
  .description('measure CPU, WAL, commits and bytes on disk of a call, in three minutes')
  .option('--connections <numbers>', 'requests in flight', numbers, [1, 8, 32, 128])
  .option('--syncs <ms>', 'added latency of each commit', numbers, [0, 5])
  .option('--seconds <number>', 'length of a turn', Number, 2)
  .option('--rounds <number>', 'turns of each case', Number, 3)
  .option('--results <folder>', 'folder for scaling.json', join(import.meta.dirname, '..', 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:scaling:capacity -- --connections 32 --syncs 0,1,5,20')
  .parse()
  .opts();

const CASES = connections.flatMap((count) => [true, false].map((worker) => ({ connections: count, worker })));
const turns = startTurns(syncs.length * CASES.length * rounds);
const measured = [];
let [disk, diskSyncMs] = [[], NaN];
for (const syncMs of syncs) {
  turns.show('starting');
  await withScene((scene) => measureAll(scene, syncMs), { settings: slowCommits(syncMs) });
}
turns.print(tableOf(measured));
mkdirSync(results, { recursive: true });
const all = { machine: machine(), diskSyncMs, seconds, rounds, measured, disk };
writeFileSync(join(results, 'scaling.json'), `${JSON.stringify(all, null, 2)}\n`);

async function measureAll(scene, syncMs) {
  const products = new Map();
  for (const worker of [true, false]) {
    const name = worker ? 'with_worker' : 'without_worker';
    const product = await startProduct({
      ...(await scene.place(name)),
      env: { START_WORKER: String(worker) },
    });
    scene.end(product.stop);
    const counters = await countersOf(scene.postgres.urlOf(name));
    scene.end(counters.end);
    await scene.ask({ ...roundOf(product, 32), requests: WARM_UP_REQUESTS });
    products.set(worker, { name, product, counters });
  }
  const cases = CASES.map((one) => ({ syncMs, ...one, turns: [] }));
  if (syncMs === syncs[0]) diskSyncMs = rounded(syncTime(scene.postgres.dataDir), 3);
  for (let round = 1; round <= rounds; round += 1) {
    for (const one of cases) {
      const what = `+${syncMs} ms, ${one.connections} connections${one.worker ? '' : ', without a worker'}`;
      turns.begin(`round ${round} of ${rounds}: ${what}`);
      one.turns.push(await measure(products.get(one.worker), one.connections, scene));
    }
  }
  measured.push(...cases.map(({ turns: its, ...one }) => ({ ...one, ...medianOf(its) })));
  if (syncMs === syncs[0]) disk = await onDisk(products.get(true).counters);
}

function roundOf({ urls, apiKey }, count) {
  return { urls, apiKey, operation: 'airtime', connections: count, idempotencyKeys: true };
}

async function measure({ product, counters }, count, { postgres, ask }) {
  await settle(product, postgres);
  const begun = await counters.now();
  const before = await costs(product, postgres);
  const { requests, seconds: took, failures, medianMs } = await ask({ ...roundOf(product, count), seconds });
  await settle(product, postgres);
  const after = await costs(product, postgres);
  const batches = await counters.batchesSince(begun);
  const each = (name, scale = 1) => ((after[name] - before[name]) * scale) / requests;
  return {
    proxyCpuMs: each('proxyCpu', 1_000),
    workerCpuMs: each('workerCpu', 1_000),
    postgresCpuMs: each('postgresCpu', 1_000),
    walBytes: each('walBytes'),
    commits: each('commits'),
    rowsPerAdmission: batches.calls / batches.admissions,
    requestsPerSecond: requests / took,
    medianMs,
    failed: failures.reduce((sum, [, times]) => sum + times, 0),
  };
}

/**
 * Returns the bytes of a call in each table with its indexes and texts, for tables with ten bytes or more.
 * With few calls, half-empty pages count. bench/results/growth.json has the size of ten million calls.
 */
async function onDisk({ query }) {
  const { rows } = await query(`WITH calls AS (SELECT count(*)::float8 AS number FROM intent)
    SELECT coalesce(p.inhparent::regclass::text, c.oid::regclass::text) AS name,
      sum(pg_total_relation_size(c.oid))::float8 / (SELECT number FROM calls) AS bytes
    FROM pg_class c LEFT JOIN pg_inherits p ON p.inhrelid = c.oid
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY 1
    HAVING sum(pg_total_relation_size(c.oid))::float8 / (SELECT number FROM calls) >= 10 ORDER BY 2 DESC`);
  return rows.map(({ name, bytes }) => ({ name, bytes: rounded(bytes) }));
}

/** Returns how long this disk takes to write and sync a page, in ms: the median. */
function syncTime(folder) {
  const path = join(folder, 'sync');
  const file = openSync(path, 'w');
  const times = Array.from({ length: SYNCS }, () => {
    const begun = performance.now();
    writeSync(file, PAGE, 0, PAGE.length, 0);
    fdatasyncSync(file);
    return performance.now() - begun;
  });
  closeSync(file);
  rmSync(path);
  return median(times);
}

function tableOf(cases) {
  const head = [
    '',
    'proxy ms',
    'worker ms',
    'Postgres ms',
    'WAL kB',
    'commits',
    'rows/batch',
    'calls/s',
    'median ms',
    'failed',
  ];
  const lines = cases.map((one) => [
    `+${one.syncMs} ms, ${one.connections} connections${one.worker ? '' : ', without a worker'}`,
    rounded(one.proxyCpuMs, 3),
    rounded(one.workerCpuMs, 3),
    rounded(one.postgresCpuMs, 3),
    rounded(one.walBytes / 1_000, 2),
    rounded(one.commits, 3),
    rounded(one.rowsPerAdmission, 1),
    rounded(one.requestsPerSecond),
    rounded(one.medianMs, 1),
    one.failed,
  ]);
  return [head, ...lines]
    .map((cells) => cells.map((cell, place) => String(cell).padStart(place ? 12 : 42)).join(''))
    .join('\n');
}
