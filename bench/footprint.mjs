/**
 * npm run bench:footprint: measures the time of a start and of commands, the memory at rest, and the size
 * installed.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { median } from './report.mjs';
import { machine } from './support/machine.mjs';
import { cpuSecondsOf, cpuSecondsOfEnded, rssOf, startNode } from './support/processes.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';

const ROOT = join(import.meta.dirname, '..');

/** Commands that read: the help alone, the answer of a proxy, and the database. */
const COMMANDS = ['--help', 'audit activity', 'clients list'];

/** Time after which the garbage of a start is collected. */
const REST_MS = 10_000;

const { times, install, results } = new Command('npm run bench:footprint --')
  .description('measure starts, commands, the memory at rest and the size of an installation for production')
  .option('--times <number>', 'number of starts', Number, 5)
  .option('--no-install', 'skip the size, which installs the packages once more')
  .option('--results <folder>', 'folder of footprint.json', join(import.meta.dirname, 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:footprint -- --times 3 --no-install')
  .parse()
  .opts();

await withScene(async ({ place }) => {
  const dependencies = await place('started');
  const first = await startProduct(dependencies); // It migrates, and has a client.
  await first.stop();
  const starts = [];
  for (let time = 0; time < times; time += 1)
    starts.push(await startOnce({ ...dependencies, client: false }));
  const figures = {
    machine: machine(),
    firstStartSeconds: await firstStart(),
    startSeconds: median(starts.map(({ seconds }) => seconds)),
    startCpuSeconds: median(starts.map(({ cpuSeconds }) => cpuSeconds)),
    commands: await commandsAt(dependencies, first.apiKey),
    rssAtRestMb: median(starts.map(({ rssMb }) => rssMb)),
    ...(install && installation()),
  };
  mkdirSync(results, { recursive: true });
  const text = `${JSON.stringify(figures, null, 2)}\n`;
  writeFileSync(join(results, 'footprint.json'), text);
  process.stdout.write(text);
});

async function startOnce(dependencies) {
  const begun = performance.now();
  const product = await startProduct(dependencies);
  const seconds = (performance.now() - begun) / 1_000;
  const [pid] = product.pids;
  const cpuSeconds = cpuSecondsOf(pid);
  await sleep(REST_MS);
  const rssMb = rssOf(pid);
  await product.stop();
  return { seconds, cpuSeconds, rssMb };
}

/** Measures the CPU time of each command, beside a running proxy. */
async function commandsAt(dependencies, PAYOUT_PROXY_KEY) {
  const product = await startProduct({ ...dependencies, client: false });
  const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = dependencies;
  const { port: PORT } = new URL(product.urls[0]);
  const env = { ...process.env, DATABASE_URL, DATA_DIR, PORT, PAYOUT_PROXY_KEY };
  const measured = COMMANDS.map((command) => {
    const words = [join(ROOT, 'dist', 'cli', 'main.js'), ...command.split(' ')];
    const once = () => {
      const before = cpuSecondsOfEnded();
      execFileSync(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
      return cpuSecondsOfEnded() - before;
    };
    return { command, cpuSeconds: median(Array.from({ length: times }, once)) };
  });
  await product.stop();
  return measured;
}

/** Measures the first start: a new embedded Postgres, all migrations, and the sandbox as the upstream. */
async function firstStart() {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-first-'));
  chmodSync(folder, 0o755); // See startPostgres.
  const begun = performance.now();
  const env = { DATA_DIR: folder, PORT: '0', DRAIN_MS: '0' };
  const product = await startNode(join(ROOT, 'dist', 'main.js'), { env, found: /Proxy\s+(http:\S+)/ });
  const seconds = (performance.now() - begun) / 1_000;
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
  return seconds;
}

/** Measures a production installation in MB, as in the Dockerfile, and one with a Postgres (`npm ci`). */
function installation() {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-install-'));
  const sizeOf = (path) => parseInt(execFileSync('du', ['-sm', path]).toString(), 10);
  const installed = (...omitted) => {
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', ['ci', ...omitted, ...quietly], { cwd: folder, stdio: 'ignore' });
    return sizeOf(join(folder, 'node_modules'));
  };
  try {
    for (const name of ['package.json', 'package-lock.json']) cpSync(join(ROOT, name), join(folder, name));
    const packagesMb = installed('--omit=dev', '--omit=optional');
    return { packagesMb, allPackagesMb: installed(), builtMb: sizeOf(join(ROOT, 'dist')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
