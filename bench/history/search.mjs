/**
 * Measures the time of searches over HTTP: every filter alone and some combinations, the first page and page
 * 1,000, or the last one before it.
 *
 * npm run seed -- --calls 1000000 --keys keys.json && npm run bench:search -- --keys keys.json
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { startProxy } from './running-proxy.mjs';
import { combinations, singles } from './search-cases.mjs';
import { quantile, Searcher } from './searcher.mjs';

const options = new Command('npm run bench:search --')
  .description('measure the search of a seeded history')
  .option('--url <url>', 'running proxy; by default, one is started on DATA_DIR or DATABASE_URL')
  .option('--keys <file>', 'keys file of npm run seed', 'keys.json')
  .option('--requests <number>', 'requests of each kind', Number, 50)
  .option('--only <words>', 'only cases with this in their names', '')
  .option(
    '--results <file>',
    'file of the figures',
    join(import.meta.dirname, '..', 'results', 'audit-search.json'),
  )
  .parse()
  .opts();

const { auditor } = JSON.parse(readFileSync(options.keys, 'utf8'));
const proxy = options.url ? { url: options.url, stop: () => undefined } : await startProxy();
const searcher = new Searcher(proxy.url, auditor);
try {
  await run();
} finally {
  await proxy.stop();
}

async function measure(one, more) {
  const { rows, times } = await searcher.measure(one, options.requests, more);
  const at = (share) => Number(quantile(times, share).toFixed(1));
  return { rows, p50: at(0.5), p95: at(0.95) };
}

async function run() {
  const results = [];
  print(
    `${'filter'.padEnd(48)} ${'rows'.padStart(5)} ${'p50'.padStart(7)} ${'p95'.padStart(7)} │ ` +
      `${'page'.padStart(5)} ${'p50'.padStart(7)} ${'p95'.padStart(7)}  ms`,
  );
  const wanted = [...singles(await searcher.samples()), ...combinations()].filter(({ name }) =>
    name.includes(options.only),
  );
  for (const one of wanted) {
    const first = await measure(one);
    const { token, page } = await searcher.walk(one);
    const deep = token
      ? await measure({ ...one, filters: one.filters.slice(0, 1) }, { page_token: token })
      : undefined;
    results.push({ name: one.name, query: one.filters[0], first, ...(deep && { deep: { page, ...deep } }) });
    const figures = (of) => [of.p50, of.p95].map((ms) => String(ms).padStart(7)).join(' ');
    print(
      `${one.name.padEnd(48)} ${String(first.rows).padStart(5)} ${figures(first)} ` +
        `│${deep ? ` ${String(page).padStart(5)} ${figures(deep)}` : ''}`,
    );
  }
  const slowest = Math.max(...results.flatMap(({ first, deep }) => [first.p95, deep?.p95 ?? 0]));
  print(`slowest p95: ${slowest} ms`);
  const { requests } = options;
  const found = { node: process.version, cpus: cpus().length, requests, slowest, results };
  mkdirSync(join(options.results, '..'), { recursive: true });
  writeFileSync(options.results, `${JSON.stringify(found, null, 2)}\n`);
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
