/** npm run bench:footprint: measures the time of a start, the memory at rest, and the size installed. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { median } from './report.mjs';
import { machine } from './support/machine.mjs';
import { cpuSecondsOf, rssOf, startNode } from './support/processes.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';

const ROOT = join(import.meta.dirname, '..');

/** Time after which the garbage of a start is collected. */
const REST_MS = 10_000;

const { times, install, results } = new Command('npm run bench:footprint --')
  .description('measure the start, the memory at rest and the size of an installation for production')
  .option('--times <number>', 'number of starts', Number, 5)
  .option('--no-install', 'skip the size, which installs the packages once more')
  .option('--results <folder>', 'folder of footprint.json', join(import.meta.dirname, 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:footprint -- --times 3 --no-install')
  .parse()
  .opts();

await withScene(async ({ place }) => {
  const dependencies = await place('started');
  await (await startProduct(dependencies)).stop(); // It migrates.
  const starts = [];
  for (let time = 0; time < times; time += 1)
    starts.push(await startOnce({ ...dependencies, client: false }));
  const figures = {
    machine: machine(),
    firstStartSeconds: await firstStart(),
    startSeconds: median(starts.map(({ seconds }) => seconds)),
    startCpuSeconds: median(starts.map(({ cpuSeconds }) => cpuSeconds)),
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
