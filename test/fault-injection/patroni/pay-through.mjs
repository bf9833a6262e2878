/**
 * Pays through a proxy and a worker in production mode during an event of its database, and compares
 * acknowledged payments with the upstream and the database.
 *
 *   DATABASE_URL=… DATABASE_OWNER_URL=… node test/fault-injection/patroni/pay-through.mjs --seconds 40 \
 *     --at 10 "patronictl … switchover --force"
 *
 * Each `--at <second> <command>` runs a shell command. Build the project and migrate the database first.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const args = process.argv.slice(2);
const seconds = Number(args[args.indexOf('--seconds') + 1] || 30);
const events = args.flatMap((word, index) =>
  word === '--at' ? [[Number(args[index + 1]), args[index + 2]]] : [],
);
const PORT = Number(process.env.PORT ?? 3900);
const PAYERS = 8;
const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..', '..', '..');
const run = promisify(execFile);

/** Returns a key that does not look like a phone number. */
const keyOf = (phone) => `order-${Number(phone.slice(5)).toString(36)}`;

const sent = new Map();
const upstream = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    const phone = /"phoneNumber":"([^"]+)"/.exec(text)?.[1];
    if (phone) sent.set(phone, (sent.get(phone) ?? 0) + 1);
    response.setHeader('Content-Type', 'application/json');
    const transactions = [{ _id: `t-${sent.size}`, status: 'success', phoneNumber: phone }];
    response.end(JSON.stringify({ status: 'success', data: { transactions, error: 'None' } }));
  });
});
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));

/** The evidence of payments. Runs on one database share the folder, or need database recover. */
const dataDir = process.env.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'payout-proxy-through-'));
const env = {
  ...process.env,
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PUBLIC_URL: `http://127.0.0.1:${PORT}`,
  PORT: String(PORT),
  METRICS_PORT: String(PORT),
  DATA_DIR: dataDir,
  CHECK_COVERAGE: 'false',
  DUAL_CONTROL: 'false', // a command creates the client
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'fatal',
  UPSTREAM_BASE_URL: `http://127.0.0.1:${upstream.address().port}`,
  UPSTREAM_API_KEY: 'upstream-key-of-a-test',
};
const cli = async (...words) =>
  (await run('node', [join(root, 'dist/cli/main.js'), ...words], { env })).stdout;
const { key } = JSON.parse(
  await cli(
    'clients',
    'create',
    '--name',
    `app-${process.pid}`,
    '--scopes',
    'pay,read',
    '--daily-cap',
    'none',
    '--json',
  ),
);
const proxy = spawn('node', [join(root, 'dist/main.js')], { env, stdio: ['ignore', 'inherit', 'inherit'] });
const url = `http://127.0.0.1:${PORT}`;
while (
  !(await fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  ))
)
  await sleep(200);

const began = performance.now();
const at = () => (performance.now() - began) / 1_000;
const acknowledged = [];
const refusals = new Map();
let longest = { gap: 0, until: 0 };
let last = 0;
let number = 0;
async function pay() {
  while (at() < seconds) {
    const phone = `+2547${String((number += 1)).padStart(8, '0')}`;
    const body = JSON.stringify({
      airtimes: [{ countryToSend: 'Kenya', phoneNumber: phone, valueInUSD: 1 }],
    });
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': keyOf(phone) };
    for (;;) {
      const answer = await fetch(`${url}/api/v0.1/payouts/airtime`, { method: 'POST', headers, body }).catch(
        () => undefined,
      );
      const { code = 'no answer' } = answer?.ok ? {} : ((await answer?.json().catch(() => undefined)) ?? {});
      if (answer?.ok) {
        await answer.text();
        acknowledged.push(phone);
        if (at() - last > longest.gap) longest = { gap: at() - last, until: at() };
        last = at();
        break;
      }
      refusals.set(code, (refusals.get(code) ?? 0) + 1);
      if (at() > seconds + 60 || (answer && answer.status < 500)) break;
      await sleep(100);
    }
  }
}
for (const [second, command] of events)
  setTimeout(() => {
    console.log(`${at().toFixed(1)} s: ${command}`);
    spawn('sh', ['-c', command], { stdio: 'inherit' });
  }, second * 1_000);
await Promise.all(Array.from({ length: PAYERS }, pay));
const found = new Set();
for (const phone of acknowledged) {
  const headers = { 'X-API-Key': key };
  const query = keyOf(phone);
  // A sample.
  if (acknowledged.length > 2_000 && Math.random() > 2_000 / acknowledged.length) found.add(phone);
  else {
    let text = '';
    for (const until = at() + 60; at() < until; await sleep(500)) {
      const answer = await fetch(`${url}/v1/calls?idempotency_key=${query}`, { headers }).catch(
        () => undefined,
      );
      text = (await answer?.text()) ?? '';
      if (answer?.ok) break; // after a failover, the search index is rebuilt
    }
    if (text.includes('"outcome":"succeeded"') || text.includes('"outcome":"confirmed"')) found.add(phone);
    else console.log(phone, text.slice(0, 300));
  }
}
console.log({
  acknowledged: acknowledged.length,
  found: found.size,
  sent: sent.size,
  sentTwice: [...sent.values()].filter((times) => times > 1).length,
  acknowledgedUnsent: acknowledged.filter((phone) => !sent.has(phone)).length,
  refusals: Object.fromEntries(refusals),
  longestGapSeconds: Number(longest.gap.toFixed(1)),
  gapEndedAtSecond: Number(longest.until.toFixed(1)),
});
proxy.kill('SIGTERM');
await new Promise((resolve) => proxy.once('exit', resolve));
upstream.close();
if (!process.env.DATA_DIR) rmSync(dataDir, { recursive: true, force: true });
