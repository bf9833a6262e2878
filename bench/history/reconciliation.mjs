import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
/**
 * Measures the time and the memory of whole runs, with the listing over HTTP, and checks that they find all
 * planted differences and nothing else.
 */
import { cpus } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { withPlantedProxy } from './planted-proxy.mjs';
import { check, plant } from './planted.mjs';

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

function measure(size) {
  const planting = async (ownerUrl, { file, stub }) => {
    const { wallets, ...rows } = await plant(ownerUrl, { items: size, from, to, file });
    stub.setWallets(wallets);
    return rows;
  };
  return withPlantedProxy(planting, async ({ proxy, key, owner, planted, cpuSeconds }) => {
    const run = await runOnce(proxy, key, cpuSeconds);
    const found = await check(owner, run.id);
    // The book has the listing now, as it has where the proxy polls.
    const again = await runOnce(proxy, key, cpuSeconds);
    return { size, ...planted, ...run, ...found, again };
  });
}

async function runOnce({ url, pid }, key, cpuSeconds) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  writeFileSync(`/proc/${pid}/clear_refs`, '5'); // On Linux, the largest resident set counts from here.
  const [started, cpuBefore] = [performance.now(), cpuSeconds()];
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
      const cpu = Number((cpuSeconds() - cpuBefore).toFixed(2));
      return { id, seconds, cpu, steps, residual: run.totals.residual_usd, rssMb: peakMemory(pid) };
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
  cpu,
  again,
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
    `${ours} payments, ${theirs} transactions: ${seconds} s, ${cpu} s of CPU${times} (${each.join(', ')}), ` +
      `at most ${rssMb} MB; again: ${again.seconds} s, ${again.cpu} s of CPU`,
  );
  console.log(
    `  planted ${planted}, found ${found}, invented ${invented}, missed ${missed}, residual ${residual} USD`,
  );
}
