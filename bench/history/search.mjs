/**
 * How long the search of the history takes, over HTTP: every filter alone and some combinations, the first page and page 1,000
 * (or the last one, where there are fewer). Needs a history: npm run seed -- --calls 1000000 --keys keys.json
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { URLSearchParams } from 'node:url';
import { Command } from 'commander';
import { combinations, singles } from './search-cases.mjs';
import { startProxy } from './running-proxy.mjs';

const PAGE = 50;
const DEEP_PAGE = 1_000;
/** The longest page there is: a thousand pages of 50 are 250 of them. */
const STRIDE = 200;

const options = new Command('npm run bench:search --')
  .description('measure the search of a seeded history')
  .option('--url <url>', 'of a proxy that runs; without it, one is started on DATA_DIR or DATABASE_URL')
  .option('--keys <file>', "with the auditor's key, as npm run seed wrote it", 'keys.json')
  .option('--requests <number>', 'how many of each kind', Number, 50)
  .option('--only <words>', 'only cases whose name has this in it', '')
  .option('--results <file>', 'where the figures go', join(import.meta.dirname, '..', 'results', 'audit-search.json'))
  .parse()
  .opts();

const { auditor } = JSON.parse(readFileSync(options.keys, 'utf8'));
const proxy = options.url ? { url: options.url, stop: () => undefined } : await startProxy();
try {
  await run();
} finally {
  await proxy.stop();
}

async function get(path) {
  const started = performance.now();
  const response = await fetch(`${proxy.url}/v1/audit/${path}`, { headers: { 'X-API-Key': auditor } });
  const body = await response.json();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`);
  return { body, ms: performance.now() - started };
}

/** Payouts from all over the history, to search for. */
async function samples() {
  const newest = (await get('items?page_size=1')).body.items[0];
  const oldest = new Date(Date.parse(newest.timings.received_at) - 150 * 86_400_000);
  const found = [];
  for (let n = 0; n < 10; n += 1) {
    const to = new Date(oldest.getTime() + n * 14 * 86_400_000).toISOString();
    for (const operation of ['POST /payouts/mobile-money', 'POST /payouts/credit']) {
      const { items } = (
        await get(`items?${new URLSearchParams({ to, operation, outcome: 'succeeded', page_size: '3' })}`)
      ).body;
      found.push(...items);
    }
  }
  return found;
}

function query(path, filters, more) {
  return `${path}?${new URLSearchParams({ ...filters, ...more })}`;
}

/** The token of page 1,000, or of the last one; by the longest pages there are. */
async function walk({ path, filters: [filters] }) {
  let token;
  let rows = 0;
  while (rows < (DEEP_PAGE - 1) * PAGE) {
    const size = Math.min(STRIDE, (DEEP_PAGE - 1) * PAGE - rows);
    const { body } = await get(query(path, filters, { page_size: size, ...(token && { page_token: token }) }));
    if (body.next_page_token === null) break;
    token = body.next_page_token;
    rows += size;
  }
  return { token, page: Math.floor(rows / PAGE) + 1 };
}

async function measure(path, filters, more) {
  const times = [];
  let rows = 0;
  for (let n = -filters.length; n < options.requests; n += 1) {
    const { body, ms } = await get(query(path, filters[Math.abs(n) % filters.length], { page_size: PAGE, ...more }));
    rows = Math.max(rows, (body.calls ?? body.items).length);
    if (n >= 0) times.push(ms);
  }
  times.sort((a, b) => a - b);
  const at = (share) => Number(times[Math.ceil(times.length * share) - 1].toFixed(1));
  return { rows, p50: at(0.5), p95: at(0.95) };
}

async function run() {
  const results = [];
  print(
    `${'filter'.padEnd(48)} ${'rows'.padStart(5)} ${'p50'.padStart(7)} ${'p95'.padStart(7)} │ ${'page'.padStart(5)} ${'p50'.padStart(7)} ${'p95'.padStart(7)}  ms`,
  );
  const wanted = [...singles(await samples()), ...combinations()].filter(({ name }) => name.includes(options.only));
  for (const one of wanted) {
    const first = await measure(one.path, one.filters, {});
    const { token, page } = await walk(one);
    const deep = token ? await measure(one.path, one.filters.slice(0, 1), { page_token: token }) : undefined;
    results.push({ name: one.name, query: one.filters[0], first, ...(deep && { deep: { page, ...deep } }) });
    const figures = (of) => [of.p50, of.p95].map((ms) => String(ms).padStart(7)).join(' ');
    print(
      `${one.name.padEnd(48)} ${String(first.rows).padStart(5)} ${figures(first)} │${deep ? ` ${String(page).padStart(5)} ${figures(deep)}` : ''}`,
    );
  }
  const slowest = Math.max(...results.flatMap(({ first, deep }) => [first.p95, deep?.p95 ?? 0]));
  print(`slowest p95: ${slowest} ms`);
  mkdirSync(join(options.results, '..'), { recursive: true });
  writeFileSync(
    options.results,
    `${JSON.stringify({ node: process.version, cpus: cpus().length, requests: options.requests, slowest, results }, null, 2)}\n`,
  );
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
