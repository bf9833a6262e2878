/**
 * Measures the speed and the memory of exports over HTTP: the whole history, in each form, checked against
 * its manifest.
 *
 * npm run seed -- --calls 1000000 --keys keys.json && npm run bench:export -- --keys keys.json
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { startProxy } from './running-proxy.mjs';

const EXPORTS = ['format=csv&what=calls', 'format=ndjson&what=calls', 'format=csv&what=items'];

const options = new Command('npm run bench:export --')
  .description('measure the export of a seeded history')
  .option('--url <url>', 'running proxy; by default, one is started on DATA_DIR or DATABASE_URL')
  .option('--pid <number>', 'process of the proxy, to measure its memory', Number)
  .option('--keys <file>', 'keys file of npm run seed', 'keys.json')
  .option('--key <name>', 'name of the key; auditor shows people', 'auditor')
  .option(
    '--results <file>',
    'file of the figures',
    join(import.meta.dirname, '..', 'results', 'audit-export.json'),
  )
  .parse()
  .opts();

const key = JSON.parse(readFileSync(options.keys, 'utf8'))[options.key];
let proxy = options.url
  ? { url: options.url, pid: options.pid, stop: async () => undefined }
  : await startProxy();
try {
  if ((await sealed()) && !options.url) {
    await proxy.stop(); // Memory of earlier work is not counted.
    proxy = await startProxy();
  }
  await run();
} finally {
  await proxy.stop();
}

/**
 * Seals a new history first, because sealing is measured elsewhere.
 * @returns whether that was necessary.
 */
async function sealed() {
  let waited = false;
  for (let calm = 0; calm < 3;) {
    const text = await fetch(`${proxy.workerUrl ?? proxy.url}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );
    const lag = Number(/^payout_proxy_log_lag_seconds (\S+)$/m.exec(text)?.[1] ?? 0);
    waited ||= lag > 5;
    calm = lag > 5 ? 0 : calm + 1;
    await sleep(1_000);
  }
  return waited;
}

/** Returns the largest resident set since the last call, in MB. On Linux only. */
function peakMemory() {
  if (proxy.pid === undefined) return undefined;
  const kib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${proxy.pid}/status`, 'utf8'))?.[1]);
  writeFileSync(`/proc/${proxy.pid}/clear_refs`, '5');
  return Math.round(kib / 1_024);
}

async function measure(query) {
  const before = peakMemory();
  const started = performance.now();
  const response = await new Promise((resolve, reject) => {
    get(`${proxy.url}/v1/audit/export?${query}`, { headers: { 'x-api-key': key } }, resolve).on(
      'error',
      reject,
    );
  });
  if (response.statusCode !== 200) throw new Error(`${query}: ${response.statusCode}`);
  const hash = createHash('sha256');
  let firstByteMs;
  let bytes = 0;
  for await (const chunk of response) {
    firstByteMs ??= performance.now() - started;
    bytes += chunk.length;
    hash.update(chunk);
  }
  const seconds = (performance.now() - started) / 1_000;
  const address = `${proxy.url}/v1/audit/export/${response.headers['x-call-id']}/manifest`;
  const manifest = await (await fetch(address, { headers: { 'x-api-key': key } })).json();
  if (manifest.sha256 !== hash.digest('hex')) throw new Error(`${query}: not what its manifest says`);
  return {
    query,
    rows: manifest.rows,
    megabytes: Math.round(bytes / 1_000_000),
    seconds: Number(seconds.toFixed(1)),
    rowsPerSecond: Math.round(manifest.rows / seconds),
    firstByteMs: Math.round(firstByteMs),
    memoryBeforeMb: before,
    peakMemoryMb: peakMemory(),
  };
}

async function run() {
  const results = [];
  for (const query of EXPORTS) {
    results.push(await measure(query));
    console.table(results.slice(-1));
  }
  mkdirSync(join(options.results, '..'), { recursive: true });
  writeFileSync(
    options.results,
    `${JSON.stringify({ node: process.version, cpus: cpus().length, results }, null, 2)}\n`,
  );
}
