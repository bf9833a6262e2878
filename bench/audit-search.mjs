/**
 * How long the search of the history takes, over HTTP: every filter alone and some combinations, the first page and page 1,000
 * (or the last one, where there are fewer). Needs a history: npm run seed -- --calls 1000000 --keys keys.json
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Command } from 'commander';

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
  .option('--results <file>', 'where the figures go', join(import.meta.dirname, 'results', 'audit-search.json'))
  .parse()
  .opts();

const { auditor } = JSON.parse(readFileSync(options.keys, 'utf8'));
const proxy = options.url ? { url: options.url, stop: () => undefined } : await startProxy();
try {
  await run();
} finally {
  proxy.stop();
}

async function startProxy() {
  const main = join(import.meta.dirname, '..', 'dist', 'main.js');
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
      const found = /Proxy\s+(http:\S+)/.exec(said);
      if (found) resolve(found[1]);
    });
    child.on('exit', () => reject(new Error('the proxy did not start')));
  });
  return { url, stop: () => child.kill('SIGTERM') };
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

function cases(payouts) {
  const of = (pick) =>
    [...new Set(payouts.map(pick).filter((value) => value !== null && value !== undefined))].slice(0, 10);
  const each = (name, values) => values.map((value) => ({ [name]: value }));
  const day = (n) => new Date(Date.now() - n * 86_400_000).toISOString();
  const one = (name, ...filters) => ({ name, path: 'calls', filters });
  const items = (name, ...filters) => ({ name: `items: ${name}`, path: 'items', filters });
  const rare = { country: 'Lesotho', client: 'pilot' };
  return [
    one('no filter', {}),
    one('from, to: a day', { from: day(90), to: day(89) }),
    one('from', { from: day(120) }),
    one('to', { to: day(120) }),
    one('client: busy', { client: 'shop' }),
    one('client: seldom', { client: 'pilot' }),
    one('client: none', { client: 'nobody' }),
    one(
      'key',
      ...each(
        'key',
        of(({ key_id: id }) => id),
      ),
    ),
    one(
      'actor',
      ...each(
        'actor',
        of(({ actor }) => actor),
      ),
    ),
    ...['POST /payouts/airtime', 'POST /account/delete-unpaid-transaction'].map((operation) =>
      one(`operation ${operation}`, { operation }),
    ),
    ...[
      'succeeded',
      'rejected',
      'notSent',
      'unknown',
      'landed',
      'absent',
      'pendingApproval',
      'declined',
      'expired',
      'inProgress',
      'refused',
    ].map((outcome) => one(`outcome ${outcome}`, { outcome })),
    ...['true', 'false'].map((doubt) => one(`in_doubt ${doubt}`, { in_doubt: doubt })),
    ...['pending', 'approved', 'rejected', 'expired'].map((approval) => one(`approval ${approval}`, { approval })),
    one(
      'recipient: phone',
      ...each(
        'recipient',
        of(({ item }) => item.recipient.phone),
      ),
    ),
    one(
      'recipient: e-mail',
      ...each(
        'recipient',
        of(({ item }) => item.recipient.email),
      ),
    ),
    one('recipient: none', { recipient: 'nobody@example.com' }),
    one('recipient_prefix: country', { recipient_prefix: '+234' }),
    one(
      'recipient_prefix: 8 characters',
      ...each(
        'recipient_prefix',
        of(({ item }) => item.recipient.phone?.slice(0, 8)),
      ),
    ),
    one('recipient_prefix: e-mail', { recipient_prefix: 'grace.1' }),
    one('country: common', { country: 'Nigeria' }),
    one('country: seldom', { country: 'Lesotho' }),
    one('network_code', ...each('network_code', ['MTN', 'VCL'])),
    one(
      'reference',
      ...each(
        'reference',
        of(({ item }) => item.reference),
      ),
    ),
    one('min_item_usd: much', { min_item_usd: '450' }),
    one('min, max_item_usd', { min_item_usd: '99.99', max_item_usd: '100.5' }),
    one('max_item_usd', { max_item_usd: '0.02' }),
    one('min_total_usd: very much', { min_total_usd: '1500' }),
    one('min, max_total_usd', { min_total_usd: '100', max_total_usd: '101' }),
    one(
      'upstream_ref',
      ...each(
        'upstream_ref',
        of(({ item }) => item.upstream?.chi_ref),
      ),
    ),
    one(
      'idempotency_key',
      ...each(
        'idempotency_key',
        of(({ idempotency_key: key }) => key),
      ),
    ),
    one(
      'request_id',
      ...each(
        'request_id',
        of(({ request_id: id }) => id),
      ),
    ),
    one('client_address', ...each('client_address', ['192.0.2.0', '192.0.2.39'])),
    one('sort amount', { sort: 'amount' }),
    items('no filter', {}),
    items('sort amount', { sort: 'amount' }),
    one('1: client + country, both common', { client: 'shop', country: 'Nigeria' }),
    one('2: client + country, hardly any', rare),
    one('3: operation + country, none', { operation: 'POST /account/transfer', country: 'Nigeria' }),
    one('4: client + operation + outcome + 30 days', {
      client: 'rewards',
      operation: 'POST /payouts/mobile-money',
      outcome: 'rejected',
      from: day(60),
      to: day(30),
    }),
    one('5: rejected + large', { outcome: 'rejected', min_item_usd: '400' }),
    one('6: actor + address', { actor: 'clerk-3', client_address: '192.0.2.5' }),
    one('7: country by amount', { country: 'Ghana', sort: 'amount' }),
    one('8: client + amounts by amount, a month', {
      client: 'games',
      min_total_usd: '50',
      max_total_usd: '60',
      from: day(100),
      to: day(70),
      sort: 'amount',
    }),
    one('9: beginning + outcome + network', { recipient_prefix: '+25', outcome: 'rejected', network_code: 'MPS' }),
    one('10: in doubt + client', { in_doubt: 'true', client: 'shop' }),
    items('11: country + network by amount', { country: 'Uganda', network_code: 'AIR', sort: 'amount' }),
    items('12: client + not succeeded + small', { client: 'payroll', outcome: 'notSent', max_item_usd: '2' }),
    items('13: old + seldom', { to: day(150), country: 'Gambia', client: 'research' }),
  ].filter(({ name }) => name.includes(options.only));
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
  console.log(
    `${'filter'.padEnd(48)} ${'rows'.padStart(5)} ${'p50'.padStart(7)} ${'p95'.padStart(7)} │ ${'page'.padStart(5)} ${'p50'.padStart(7)} ${'p95'.padStart(7)}  ms`,
  );
  for (const one of cases(await samples())) {
    const first = await measure(one.path, one.filters, {});
    const { token, page } = await walk(one);
    const deep = token ? await measure(one.path, one.filters.slice(0, 1), { page_token: token }) : undefined;
    results.push({ name: one.name, query: one.filters[0], first, ...(deep && { deep: { page, ...deep } }) });
    const figures = (of) => [of.p50, of.p95].map((ms) => String(ms).padStart(7)).join(' ');
    console.log(
      `${one.name.padEnd(48)} ${String(first.rows).padStart(5)} ${figures(first)} │${deep ? ` ${String(page).padStart(5)} ${figures(deep)}` : ''}`,
    );
  }
  const slowest = Math.max(...results.flatMap(({ first, deep }) => [first.p95, deep?.p95 ?? 0]));
  console.log(`slowest p95: ${slowest} ms`);
  mkdirSync(join(options.results, '..'), { recursive: true });
  writeFileSync(
    options.results,
    `${JSON.stringify({ node: process.version, cpus: cpus().length, requests: options.requests, slowest, results }, null, 2)}\n`,
  );
}
