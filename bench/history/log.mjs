/**
 * Measures how many records per second are sealed and verified. Sealing is measured once for each history,
 * because nothing is left to seal afterwards.
 *
 * npm run seed -- --calls 1000000 --keys keys.json && npm run bench:log -- --keys keys.json
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { startProxy } from './running-proxy.mjs';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
/** Least number of records for a speed. */
const ENOUGH = 10_000;

const { results } = new Command('npm run bench:log --')
  .description('measure how fast a seeded history is sealed and verified; works on DATA_DIR or DATABASE_URL')
  .option('--keys <file>', 'ignored; accepted for npm run bench')
  .option(
    '--results <file>',
    'file of the figures',
    join(import.meta.dirname, '..', 'results', 'audit-log.json'),
  )
  .parse()
  .opts();

const sealing = await seal();
const verifying = verify();
const figures = { cores: cpus().length, node: process.version, sealing, verifying };
mkdirSync(dirname(results), { recursive: true });
writeFileSync(results, `${JSON.stringify(figures, null, 2)}\n`);
console.table({ sealing: sealing ?? { records: 0 }, verifying });

/** @returns undefined if everything was sealed before. */
async function seal() {
  const proxy = await startProxy();
  try {
    const leaves = async () => {
      const text = await fetch(`${proxy.workerUrl}/metrics`).then(
        (answer) => answer.text(),
        () => '',
      );
      return Number(/^payout_proxy_log_leaves (\S+)$/m.exec(text)?.[1] ?? 0);
    };
    const first = await changed(leaves, 0);
    const started = performance.now();
    let [last, at] = [first, started];
    for (let next = await changed(leaves, last); next > last; next = await changed(leaves, last)) {
      [last, at] = [next, performance.now()];
    }
    const records = last - first;
    if (records < ENOUGH) return undefined;
    const seconds = (at - started) / 1_000;
    return { records, seconds: round(seconds), 'records/s': Math.round(records / seconds) };
  } finally {
    await proxy.stop();
  }
}

/** Returns the number once it has changed, or after some seconds. */
async function changed(read, before) {
  for (let tries = 0; tries < 50; tries += 1) {
    const now = await read();
    if (now !== before) return now;
    await sleep(100);
  }
  return before;
}

function verify() {
  const { stdout, stderr } = spawnSync(process.execPath, [CLI, 'audit', 'verify', '--json'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (stdout === '') throw new Error(stderr);
  const { records, seconds, records_per_second: rate, fault } = JSON.parse(stdout);
  return { records, seconds, 'records/s': rate, fault: fault && JSON.stringify(fault) };
}

function round(seconds) {
  return Math.round(seconds * 100) / 100;
}
