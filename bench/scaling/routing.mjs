/**
 * npm run bench:scaling: compares two ways to spread clients over two processes that share a database: each
 * request to any process, and each client to one process. Few and many clients, with and without caps,
 * measured in turns.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { costs, settle } from '../support/costs.mjs';
import { machine } from '../support/machine.mjs';
import { startProduct } from '../support/product.mjs';
import { withScene } from '../support/scene.mjs';
import { startTurns } from '../support/turns.mjs';
import { makeClients } from './clients.mjs';
import { countersOf } from './counters.mjs';
import { medianOf, rounded } from './figures.mjs';
import { placeOf } from './placement.mjs';
import { slowCommits } from './slow-commits.mjs';

const PROCESSES = 2;
const WARM_UP_REQUESTS = 8_000;

const positive = (text) => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('must be a number over 0');
  return Number(text);
};
const numbers = (text) => text.split(',').map(Number);

const { clients, syncs, connections, seconds, rounds, results } = new Command('npm run bench:scaling --')
  .description(
    'compare routing each client to one of two processes with routing each request to any, in three minutes',
  )
  .option('--clients <numbers>', 'clients that share the load', numbers, [1, 8, 64])
  .option('--syncs <ms>', 'added latency of each commit, as of a slower disk or a standby', numbers, [0, 5])
  .option('--connections <number>', 'requests in flight', positive, 64)
  .option('--seconds <number>', 'length of a turn', positive, 1.5)
  .option('--rounds <number>', 'turns of each case', positive, 2)
  .option('--results <folder>', 'folder for routing.json', join(import.meta.dirname, '..', 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:scaling -- --clients 2,256 --syncs 20 --rounds 1')
  .parse()
  .opts();

const CASES = clients.flatMap((count) =>
  [false, true].flatMap((capped) => ['any', 'one'].map((process) => ({ clients: count, capped, process }))),
);
const turns = startTurns(syncs.length * CASES.length * rounds);
const measured = [];
for (const syncMs of syncs) {
  turns.show('starting two processes');
  await withScene((scene) => measureAll(scene, syncMs), { settings: slowCommits(syncMs) });
}
turns.print(tableOf(measured));
mkdirSync(results, { recursive: true });
const all = { machine: machine(), connections, seconds, rounds, measured };
writeFileSync(join(results, 'routing.json'), `${JSON.stringify(all, null, 2)}\n`);

async function measureAll(scene, syncMs) {
  const place = await scene.place('routed');
  const product = await startProduct({
    ...place,
    processes: PROCESSES,
    client: '--name operator --scopes admin',
  });
  scene.end(product.stop);
  const counters = await countersOf(scene.postgres.urlOf('routed'));
  scene.end(counters.end);
  const cases = [];
  for (const one of CASES) cases.push({ syncMs, ...one, routes: await routesOf(product, one), turns: [] });
  await scene.ask({ ...roundOf(cases.flatMap(({ routes }) => routes)), requests: WARM_UP_REQUESTS });
  for (let round = 1; round <= rounds; round += 1) {
    for (const one of cases) {
      turns.begin(`round ${round} of ${rounds}: ${nameOf(one)}`);
      one.turns.push(await measure(one.routes, { product, counters, ...scene }));
    }
  }
  measured.push(...cases.map(({ routes: _, turns: its, ...one }) => ({ ...one, ...medianOf(its) })));
}

/** Routes of a case: each client over any process, or over the one that its key hashes to. */
async function routesOf({ urls, apiKey }, { clients: count, capped, process }) {
  const names = Array.from(
    { length: count },
    (_, place) => `c${count}-${capped ? 'capped' : 'free'}-${process}-${place}`,
  );
  const keys = await makeClients(urls[0], apiKey, { names, capped });
  return keys.flatMap((key, place) => {
    const all = urls.map((url) => ({ url, apiKey: key }));
    return process === 'any' ? all : [all[placeOf(names[place], all.length)]];
  });
}

function roundOf(routes) {
  return { routes, operation: 'airtime', connections, idempotencyKeys: true };
}

async function measure(routes, { product, counters, postgres, ask }) {
  await settle(product, postgres);
  const begun = await counters.now();
  const before = await costs(product, postgres);
  const stopWatching = counters.watchLocks();
  const { requests, seconds: took, failures, medianMs, p99Ms } = await ask({ ...roundOf(routes), seconds });
  const lockWaitSeconds = await stopWatching();
  await settle(product, postgres);
  const after = await costs(product, postgres);
  const batches = await counters.batchesSince(begun);
  const each = (name, scale = 1) => ((after[name] - before[name]) * scale) / requests;
  return {
    rowsPerAdmission: batches.calls / batches.admissions,
    rowsPerOutcomeBatch: batches.calls / batches.outcomes,
    commits: each('commits'),
    walBytes: each('walBytes'),
    proxyCpuMs: each('proxyCpu', 1_000),
    postgresCpuMs: each('postgresCpu', 1_000),
    lockWaitMs: (lockWaitSeconds * 1_000) / requests,
    requestsPerSecond: requests / took,
    medianMs,
    p99Ms,
    failed: failures.reduce((sum, [, times]) => sum + times, 0),
  };
}

function nameOf({ syncMs, clients: count, capped, process }) {
  const who = `${count} client${count === 1 ? '' : 's'}${capped ? ' with caps' : ''}`;
  return `+${syncMs} ms, ${who}, ${process === 'any' ? 'any process' : 'one process each'}`;
}

function tableOf(measured) {
  const head = [
    '',
    'rows/batch',
    'commits',
    'WAL kB',
    'proxy ms',
    'Postgres ms',
    'lock ms',
    'calls/s',
    'median ms',
    'failed',
  ];
  const lines = measured.map((one) => [
    nameOf(one),
    rounded(one.rowsPerAdmission, 1),
    rounded(one.commits, 3),
    rounded(one.walBytes / 1_000, 2),
    rounded(one.proxyCpuMs, 3),
    rounded(one.postgresCpuMs, 3),
    rounded(one.lockWaitMs, 3),
    rounded(one.requestsPerSecond, 0),
    rounded(one.medianMs, 1),
    one.failed,
  ]);
  return [head, ...lines]
    .map((cells) => cells.map((cell, place) => String(cell).padStart(place ? 12 : 50)).join(''))
    .join('\n');
}
