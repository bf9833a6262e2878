/**
 * npm run bench:sandbox: measures the payments of the sandbox beside a proxy at rest, and as its upstream.
 * The sandbox of another checkout takes turns with this one. The proxies are of this checkout.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { settle } from './support/costs.mjs';
import { machine } from './support/machine.mjs';
import { busySeconds, cpuSecondsOf, cpuSecondsOfFamily, startNode } from './support/processes.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';
import { startTurns } from './support/turns.mjs';

const ROOT = join(import.meta.dirname, '..');
const API_KEY = 'bench-upstream-key'; // Of `startProduct`.
const CONTROL_KEY = 'bench-control-key';
const DEMO_ACCOUNT = '00000000-0000-4000-8000-000000000001';
const PARTS = ['sandbox', 'postgres', 'proxy', 'load'];
const MORE_USD = 1_000_000; // The opening balance would end within seconds.

const number = (text) => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0');
  return Number(text);
};

const { payments, warmUp, rounds, connections, against, alone, results } = new Command(
  'npm run bench:sandbox --',
)
  .description('measure the payments of the sandbox, beside a proxy and as its upstream')
  .option('--payments <number>', 'payments of a turn, of two items', number, 5_000)
  .option('--warm-up <number>', 'payments before the first turn of each', number, 5_000)
  .option('--rounds <number>', 'rounds of turns', number, 3)
  .option('--connections <number>', 'simultaneous payments', number, 64)
  .option('--against <folder>', 'another, built checkout')
  .option('--alone', 'only without a proxy')
  .option('--results <file>', 'file of the figures', join(import.meta.dirname, 'results', 'sandbox.json'))
  .addHelpText('after', '\nExample:\n  npm run bench:sandbox -- --against ../payout-proxy-before --rounds 5')
  .parse()
  .opts();

await withScene(async (scene) => {
  const roots = [ROOT, ...(against ? [resolve(against)] : [])];
  const contestants = [];
  for (const [index, root] of roots.entries()) {
    const sandbox = await startSandbox(scene, { root, name: `sandbox_${index}` });
    const name = index === 0 ? 'now' : `before, at ${commitOf(root)}`;
    contestants.push({ name, way: 'direct', sandbox, urls: [sandbox.url], apiKey: API_KEY });
    if (alone) continue;
    const place = await scene.place(`proxy_${index}`);
    const env = { WALLETS_EVERY_SECONDS: '0' };
    const proxy = await startProduct({ ...place, upstreamUrl: sandbox.url, env });
    scene.end(proxy.stop);
    contestants.push({ name, way: 'through a proxy', sandbox, proxy, ...proxy });
  }
  const all = { machine: machine(), payments, rounds, connections, rows: await measure(contestants, scene) };
  mkdirSync(dirname(results), { recursive: true });
  writeFileSync(results, `${JSON.stringify(all, null, 2)}\n`);
});

function commitOf(root) {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root }).toString().trim();
}

/** Starts the sandbox of a checkout with its own migrations. */
async function startSandbox({ postgres, end }, { root, name }) {
  const require = createRequire(join(root, 'package.json'));
  const { migrate, SANDBOX_MIGRATIONS } = require('./dist/platform/database/migrations/migrations.js');
  const databaseUrl = await postgres.createDatabase(name);
  await migrate(databaseUrl, SANDBOX_MIGRATIONS);
  const env = {
    SANDBOX_DATABASE_URL: databaseUrl,
    SANDBOX_PORT: '0',
    SANDBOX_API_KEY: API_KEY,
    SANDBOX_CONTROL_KEY: CONTROL_KEY,
  };
  const main = join(root, 'dist', 'sandbox', 'main.js');
  const sandbox = await startNode(main, { env, found: /sandbox listens on (http\S+)/ });
  end(sandbox.stop);
  const topUp = { type: 'top-up', valueInUSD: MORE_USD, account: DEMO_ACCOUNT, wallet: 'airtime' };
  const response = await fetch(`${sandbox.url}/_sandbox/entries`, {
    method: 'POST',
    headers: { 'X-Sandbox-Control-Key': CONTROL_KEY },
    body: JSON.stringify(topUp),
  });
  if (!response.ok) throw new Error(`the wallet was not topped up: ${await response.text()}`);
  return sandbox;
}

/** Lets the contestants take turns, and returns a row for each, with the median of its turns. */
async function measure(contestants, { postgres, ask }) {
  const round = ({ urls, apiKey }) => ({ urls, apiKey, connections, operation: 'airtime' });
  const turns = startTurns(contestants.length * (rounds + 1));
  const measured = new Map(contestants.map((contestant) => [contestant, []]));
  for (let count = 0; count <= rounds; count += 1) {
    for (const contestant of contestants) {
      turns.begin(`${contestant.name}, ${contestant.way}`);
      const isWarmUp = count === 0;
      const turn = { ...round(contestant), requests: isWarmUp ? warmUp : payments };
      const result = await turnOf(contestant, postgres, () => ask(turn));
      if (result.failures.length > 0) throw new Error(`payments failed: ${JSON.stringify(result.failures)}`);
      if (!isWarmUp) measured.get(contestant).push(result);
    }
  }
  return contestants.map((contestant) => {
    const row = rowOf(contestant, measured.get(contestant));
    turns.print(textOf(row));
    return row;
  });
}

/** Runs a turn, and adds its costs in CPU seconds. */
async function turnOf({ sandbox, proxy }, postgres, pay) {
  const used = () => ({
    sandbox: cpuSecondsOf(sandbox.pid),
    postgres: cpuSecondsOfFamily(postgres.pid),
    proxy: proxy ? cpuSecondsOfFamily(...proxy.pids) : 0,
    others: busySeconds() - cpuSecondsOfFamily(process.pid, postgres.pid),
  });
  const running = { pids: [sandbox.pid, ...(proxy?.pids ?? [])] };
  await settle(running, postgres);
  await postgres.checkpoint();
  const before = used();
  const result = await pay();
  const others = (used().others - before.others) / result.seconds;
  await settle(running, postgres); // Deferred work counts.
  const after = used();
  const msOf = (part) => ((after[part] - before[part]) * 1_000) / result.requests;
  const cpu = { sandbox: msOf('sandbox'), postgres: msOf('postgres'), proxy: msOf('proxy') };
  return { ...result, others, cpu: { ...cpu, load: (result.cpuSeconds * 1_000) / result.requests } };
}

function rowOf({ name, way }, turns) {
  const medianOf = (value) => {
    const sorted = turns.map(value).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)];
  };
  return {
    name,
    way,
    perSecond: medianOf(({ requests, seconds }) => requests / seconds),
    medianMs: medianOf((turn) => turn.medianMs),
    p99Ms: medianOf((turn) => turn.p99Ms),
    /** Cores that other processes used. */
    others: medianOf((turn) => turn.others),
    /** CPU milliseconds per payment. */
    cpu: Object.fromEntries(PARTS.map((part) => [part, medianOf((turn) => turn.cpu[part])])),
  };
}

function textOf({ name, way, perSecond, others, cpu }) {
  return (
    `${name.padEnd(24)} ${way.padEnd(16)} ${perSecond.toFixed(0).padStart(6)} payments/s, others used ` +
    `${others.toFixed(1)} cores; CPU ms per payment: ` +
    PARTS.map((part) => `${part} ${cpu[part].toFixed(2)}`).join(', ')
  );
}
