/**
 * npm run bench:fairness: measures payments during the worst load of other users, on a proxy with a long
 * history. Payments come at a fixed rate, in turns: alone, with readers, streams, stalled exports and senders
 * of faults, and with each kind of reader.
 */
import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { fill } from './history/history.mjs';
import { addKeys } from './history/keys.mjs';
import { READER_KINDS } from './load/readers.mjs';
import { costs, settle } from './support/costs.mjs';
import { DISK_STOPS_MS, watchDisk } from './support/disk.mjs';
import { machine } from './support/machine.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';
import { startTurns } from './support/turns.mjs';
import { againText } from './tables.mjs';

const READERS = 24;
const STREAMS = 300;
const EXPORTS = 4;
const SENDERS = 4;

/** Keys of the other users. Each has its own client. */
const KEYS = { readers: 4, streams: 30, exporters: 2, senders: 1 };

const KINDS = [...READER_KINDS, 'streams', 'exports', 'faults'];

/** Time for the load of the others to build up before payments are measured. */
const RAMP_MS = 2_000;

/** Maximum number of attempts per turn, if the disk stops. Payments then wait for the disk in any case. */
const MOST_TRIES = 4;

/** Warm-up, because V8 compiles hot code on the same cores. A server does so once in its life. */
const WARM_UP_SECONDS = 15;

const DAYS = 180;

const number = (text) => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0');
  return Number(text);
};
const kindsOf = (text) => {
  const kinds = text.split(',');
  const wrong = kinds.find((kind) => !KINDS.includes(kind));
  if (wrong !== undefined) throw new InvalidArgumentError(`${wrong} is none of ${KINDS.join(', ')}`);
  return kinds;
};

const { rows, rate, seconds, rounds, beside, results } = new Command('npm run bench:fairness --')
  .description('measure payments during the worst load of other users')
  .option('--rows <number>', 'calls of the history', number, 200_000)
  .option('--rate <number>', 'payments per second, in an open loop', number, 100)
  .option('--seconds <number>', 'length of a turn', number, 20)
  .option('--rounds <number>', 'rounds of turns', number, 4)
  .option('--beside <kinds>', `loads of the others, of ${KINDS.join(',')}`, kindsOf, KINDS)
  .option('--results <file>', 'file of the figures', join(import.meta.dirname, 'results', 'fairness.json'))
  .addHelpText(
    'after',
    `
Examples:
  npm run bench:fairness -- --rows 20000 --rounds 2      quick
  npm run bench:fairness -- --beside faults,streams      to find the cause
  npm run bench:fairness -- --beside pages               one kind of reader`,
  )
  .parse()
  .opts();

await withScene(async ({ place, postgres, end, ask }) => {
  const dependencies = await place('fairness');
  await fill(dependencies.databaseUrl, { calls: rows, days: DAYS, seed: 1, name: 'history' });
  await postgres.checkpoint();
  const product = await startProduct(dependencies);
  end(product.stop);
  const keys = await keysOf(dependencies.databaseUrl);
  const nuisances = fork(join(import.meta.dirname, 'load', 'nuisances.mjs'));
  end(() => nuisances.kill());
  const measured = await measure({ product, keys, nuisances, postgres, ask, end });
  const all = {
    machine: machine(),
    rows,
    rate,
    seconds,
    rounds,
    beside,
    ...summaryOf(measured),
    turns: measured,
  };
  print(all);
  mkdirSync(dirname(results), { recursive: true });
  writeFileSync(results, `${JSON.stringify(all, null, 2)}\n`);
});

/** Returns keys, repeated so that there is one for each user. */
async function keysOf(url) {
  const made = async (name, count, users, scopes) => {
    const keys = await addKeys(url, name, count, scopes);
    return Array.from({ length: users }, (_, user) => keys[user % count]);
  };
  return {
    readers: await made('reader', KEYS.readers, READERS, ['audit', 'audit:pii']),
    streams: await made('follower', KEYS.streams, STREAMS, ['audit', 'reconcile', 'approve', 'admin']),
    exporters: await made('exporter', KEYS.exporters, EXPORTS, ['audit']),
    senders: await made('sender', KEYS.senders, SENDERS, ['pay']),
  };
}

async function measure({ product, keys, nuisances, postgres, ask, end }) {
  const payments = {
    urls: product.urls,
    apiKey: product.apiKey,
    operation: 'airtime',
    connections: 64,
    rate,
  };
  const alone = beside.length > 1 ? READER_KINDS.filter((kind) => beside.includes(kind)) : [];
  const turns = startTurns((2 + alone.length) * rounds);
  const begin = async (kinds) => {
    nuisances.send({ begin: { url: product.urls[0], kinds, ...keys } });
    await sleep(RAMP_MS);
  };
  const finish = () => {
    const answered = new Promise((resolve) => nuisances.once('message', resolve));
    nuisances.send({ end: true });
    return answered;
  };
  await ask({ ...payments, seconds: WARM_UP_SECONDS });
  await begin(beside);
  await ask({ ...payments, seconds: WARM_UP_SECONDS });
  await finish();
  const disk = await watchDisk(postgres.dataDir);
  end(disk.stop);
  const measured = [];
  const once = async (what, kinds) => {
    await settle(product, postgres);
    if (kinds.length > 0) await begin(kinds);
    const before = await costs(product, postgres);
    disk.longestMs();
    const { medianMs, p99Ms, maxMs, requests, failures } = await ask({ ...payments, seconds });
    const diskMs = disk.longestMs();
    const after = await costs(product, postgres);
    const cpu = { proxy: after.proxyCpu - before.proxyCpu, postgres: after.postgresCpu - before.postgresCpu };
    const others = kinds.length > 0 ? await finish() : undefined;
    return { what, medianMs, p99Ms, maxMs, requests, failures, cpu, diskMs, others };
  };
  const turn = async (what, kinds = []) => {
    turns.begin(what);
    for (let tries = 1; ; tries += 1) {
      const one = await once(what, kinds);
      const again = one.diskMs >= DISK_STOPS_MS && tries < MOST_TRIES;
      measured.push({ ...one, again });
      turns.print(`${lineOf(one)}${again ? '  measured again' : ''}`);
      if (!again) return;
    }
  };
  for (let round = 0; round < rounds; round += 1) {
    await turn('quiet');
    await turn('beside', beside);
    for (const kind of alone) await turn(kind, [kind]);
  }
  return measured;
}

function summaryOf(all) {
  const measured = all.filter(({ again }) => !again);
  const of = (what) => {
    const turns = measured.filter((one) => one.what === what);
    const figure = (name) => median(turns.map((one) => one[name]));
    const cpu = (of) => median(turns.map((one) => one.cpu[of])) / seconds;
    return {
      medianMs: figure('medianMs'),
      p99Ms: figure('p99Ms'),
      maxMs: Math.max(...turns.map((one) => one.maxMs)),
      failed: sum(turns.flatMap(({ failures }) => failures.map(([, count]) => count))),
      cores: { proxy: cpu('proxy'), postgres: cpu('postgres') },
    };
  };
  const quiet = of('quiet');
  const kinds = [...new Set(measured.map(({ what }) => what))].filter((what) => what !== 'quiet');
  const busy = kinds.map((what) => {
    const figures = of(what);
    return { what, ...figures, timesP99: figures.p99Ms / quiet.p99Ms };
  });
  const others = totals(measured.filter(({ what }) => what === 'beside'));
  return { quiet, busy, others, again: all.length - measured.length };
}

/** Returns the answers to the others, by kind and status. */
function totals(measured) {
  const all = {};
  for (const { others = {} } of measured) {
    for (const [kind, statuses] of Object.entries(others)) {
      for (const [status, count] of Object.entries(statuses)) {
        all[kind] ??= {};
        all[kind][status] = (all[kind][status] ?? 0) + count;
      }
    }
  }
  return all;
}

function print({ quiet, busy, others, again }) {
  const line = ({ medianMs, p99Ms, maxMs, failed, cores }) =>
    `p50 ${medianMs.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms  longest ${maxMs.toFixed(0)} ms  failed ` +
    `${failed}  cores: proxy ${cores.proxy.toFixed(2)}, postgres ${cores.postgres.toFixed(2)}`;
  process.stdout.write(`${'quiet'.padEnd(9)} ${line(quiet)}\n`);
  for (const { what, timesP99, ...figures } of busy) {
    process.stdout.write(`${what.padEnd(9)} ${line(figures)}  p99 ${timesP99.toFixed(2)} times quiet\n`);
  }
  process.stdout.write(`${againText(again)}\n`);
  for (const [kind, statuses] of Object.entries(others)) {
    process.stdout.write(
      `${kind}: ${Object.entries(statuses)
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ')}\n`,
    );
  }
}

function lineOf({ what, medianMs, p99Ms, maxMs, failures, cpu, diskMs }) {
  const failed =
    failures.length > 0
      ? `  failed: ${failures.map(([why, count]) => `${count} × ${why.slice(0, 90)}`).join(', ')}`
      : '';
  return (
    `${what.padEnd(9)} p50 ${medianMs.toFixed(1).padStart(7)} ms  p99 ${p99Ms.toFixed(1).padStart(8)} ms  ` +
    `longest ${maxMs.toFixed(0).padStart(6)} ms  proxy ${cpu.proxy.toFixed(1)} s  postgres ` +
    `${cpu.postgres.toFixed(1)} s  disk ${diskMs.toFixed(0).padStart(4)} ms${failed}`
  );
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
