/**
 * npm run bench: compares the product with the contestants. All of them run at the same time and are measured
 * in turns, A B C A B C, so that other load on the machine affects all of them alike. Only ratios within one
 * run are meaningful.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { contestants, ESSENTIAL, start } from './contestants.mjs';
import { bodies } from './load/bodies.mjs';
import { FULL, nameOf, SHORT, TARGETS } from './matrix.mjs';
import { ratiosOf, summarize, tableOf } from './report.mjs';
import { conditions, costs, settle } from './support/costs.mjs';
import { machine } from './support/machine.mjs';
import { familyOf, rssOf } from './support/processes.mjs';
import { withScene } from './support/scene.mjs';
import { startTurns } from './support/turns.mjs';

/** The share of the warm-up for another load of the same operation. */
const AGAIN_WARM_SHARE = 0.02;

/** The share of its capacity that a contestant gets in an open loop. */
const OPEN_LOOP_SHARE = 0.5;

const positive = (text) => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('must be a number over 0');
  return Number(text);
};

const program = new Command('npm run bench --')
  .description('compare the proxy with others: the rows with a target, in about an hour')
  .option('--short', 'three rows, with less warm-up and short rounds, in a few minutes')
  .option('--all', 'the whole matrix and all contestants, in some hours')
  .option('--rounds <number>', 'turns of each contestant in each row (default: 7, short: 3)', positive)
  .option('--seconds <number>', 'length of a turn (default: 8, short: 0.8)', positive)
  .option(
    '--warm-up <requests>',
    'requests of two items before the first turn (default: 50000, short: 1000)',
    positive,
  )
  .option('--rows <numbers>', 'only these rows, such as 1,3', (text) => text.split(',').map(Number))
  .option('--only <names>', 'only these contestants, separated by commas', (text) => text.split(','))
  .option('--against <folder>', 'another, built checkout of the product')
  .option('--results <folder>', 'folder for latest.json', join(import.meta.dirname, 'results'))
  .addHelpText(
    'after',
    `
Examples:
  npm run bench -- --short
  npm run bench -- --rows 1,2 --only direct,floor,payout-proxy
  npm run bench -- --rows 1 --only payout-proxy,payout-proxy-tokens
  npm run bench -- --rows 1 --only payout-proxy --against ../payout-proxy-before`,
  )
  .parse();
const options = program.opts();

const { short = false } = options;
const { rounds, seconds, warmUp } = {
  rounds: options.rounds ?? (short ? 3 : 7),
  seconds: options.seconds ?? (short ? 0.8 : 8),
  warmUp: options.warmUp ?? (short ? 1_000 : 50_000),
};
const matrix = short ? SHORT : options.all ? FULL : TARGETS;
const rows = matrix.filter((_row, place) => options.rows?.includes(place + 1) ?? true);
if (rows.length === 0) program.error(`error: there are only ${matrix.length} rows`);
const chosen = options.only ?? (options.all ? undefined : ESSENTIAL);
const names = [
  ...contestants().filter((name) => chosen?.includes(name) ?? true),
  ...(options.against ? [options.against] : []),
];
const turns = startTurns(
  rows.reduce((sum, row) => sum + names.length * (row.openLoop ? rounds + 1 : rounds), 0),
);

await withScene(async (scene) => {
  const racing = [];
  for (const [place, name] of names.entries()) {
    turns.show(`starting ${name}`);
    const one = await start(name, await scene.place(`bench_${place}`));
    scene.end(one.stop);
    racing.push({ name, ...one });
  }
  const measured = [];
  for (const [place, row] of rows.entries()) {
    scene.upstream.tell({ delayMs: row.delayMs });
    measured.push(await measure(row, racing, scene, `row ${place + 1} of ${rows.length}`));
    turns.print(tableOf(measured.at(-1)));
    // After each row, so that an interrupted run keeps its results.
    write({ machine: machine(), rounds, seconds, warmUp, rows: measured });
  }
});

async function measure(row, racing, scene, where) {
  const cells = new Map(racing.map(({ name }) => [name, []]));
  for (const one of racing) {
    turns.show(`${where}: warming up ${one.name}`);
    await scene.ask({ ...roundOf(one, row), requests: warmUpFor(one, row) });
    one.warmFor = row.operation;
    await settle(one, scene.postgres);
  }
  const rates = row.openLoop ? await ratesOf(row, racing, scene, where) : new Map();
  for (let round = 1; round <= rounds; round += 1) {
    for (const one of racing) {
      turns.begin(`${where}, round ${round} of ${rounds}: ${one.name}`);
      cells.get(one.name).push(await measureOnce(one, row, scene, rates.get(one)));
    }
  }
  return { ...row, name: nameOf(row), contestants: summarize(cells) };
}

/** Calls with more items are as many as have the same number of items in all. */
function warmUpFor({ warmFor }, { operation, connections }) {
  const requests = (warmUp * bodies.airtime.items) / bodies[operation].items;
  return Math.max(connections, Math.ceil(warmFor === operation ? requests * AGAIN_WARM_SHARE : requests));
}

/** Measures the capacity of each contestant with a closed loop. */
async function ratesOf(row, racing, scene, where) {
  const rates = new Map();
  for (const one of racing) {
    turns.begin(`${where}, capacity: ${one.name}`);
    const { requests, seconds: took } = await scene.ask({ ...roundOf(one, row), seconds });
    rates.set(one, (requests / took) * OPEN_LOOP_SHARE);
    await settle(one, scene.postgres);
  }
  return rates;
}

async function measureOnce(one, row, { postgres, ask }, rate) {
  const before = await costs(one, postgres);
  const begin = conditions(one, postgres);
  const { requests, seconds: took, failures, ...load } = await ask({ ...roundOf(one, row), seconds, rate });
  const end = conditions(one, postgres);
  const rssMb = one.pids.length > 0 ? Math.max(...one.pids.flatMap(familyOf).map(rssOf)) : null;
  await settle(one, postgres);
  const after = await costs(one, postgres);
  const each = (name, scale = 1) => ((after[name] - before[name]) * scale) / requests;
  return {
    cpuPer1000: each('cpu', 1_000),
    walBytes: each('walBytes'),
    requestsPerSecond: requests / took,
    capacity: rate === undefined ? null : rate / OPEN_LOOP_SHARE,
    medianMs: load.medianMs,
    p99Ms: load.p99Ms,
    proxyCpuPer1000: each('proxyCpu', 1_000),
    workerCpuPer1000: each('workerCpu', 1_000),
    postgresCpuPer1000: each('postgresCpu', 1_000),
    loadCpuPer1000: (load.cpuSeconds * 1_000) / requests,
    commits: each('commits'),
    rssMb,
    waitedShare: one.pids.length > 0 ? (end.waited - begin.waited) / took / one.pids.length : null,
    otherCores: Math.max(0, end.others - begin.others) / took,
    failures,
  };
}

function roundOf({ urls, apiKey, tokens }, { operation, connections, idempotencyKeys }) {
  return { urls, apiKey, tokens, operation, connections, idempotencyKeys };
}

function write(results) {
  mkdirSync(options.results, { recursive: true });
  const all = { ratios: ratiosOf(results.rows[0]), ...results };
  writeFileSync(join(options.results, 'latest.json'), `${JSON.stringify(all, null, 2)}\n`);
}
