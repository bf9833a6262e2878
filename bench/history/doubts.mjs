/**
 * Measures rounds of the resolver over calls in doubt with equal payouts. Checks that every listed
 * transaction belongs to a payout of its own.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Command } from 'commander';
import { withPlantedProxy } from './planted-proxy.mjs';
import { plantEqual } from './planted.mjs';

const { sizes, missing, results } = new Command('npm run bench:doubts --')
  .description('measure the resolver among equal payouts in doubt')
  .option(
    '--sizes <list>',
    'comma-separated numbers of calls in doubt',
    (text) => text.split(',').map(Number),
    [10_000, 50_000],
  )
  .option('--missing <number>', 'calls without a transaction', Number, 0)
  .option(
    '--results <file>',
    'file of the figures',
    join(import.meta.dirname, '..', 'results', 'doubts.json'),
  )
  .addHelpText('after', '\nExample:\n  npm run bench:doubts -- --sizes 50000 --missing 100')
  .parse()
  .opts();

const measured = [];
for (const size of sizes) {
  const result = await withPlantedProxy(
    (url, { file }) => plantEqual(url, { items: size, missing, file }),
    (scene) => measure(size, scene),
  );
  measured.push(result);
  console.log(
    `${size} equal payouts in doubt, ${size - missing} listed: ${result.seconds} s and ` +
      `${result.cpu} s of CPU in ${result.rounds} rounds, the first ${result.firstSeconds} s; ` +
      `${result.attributed} attributed`,
  );
}
mkdirSync(join(results, '..'), { recursive: true });
const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version };
writeFileSync(
  results,
  `${JSON.stringify({ measured: new Date().toISOString(), machine, missing, results: measured }, null, 2)}\n`,
);
if (measured.some(({ size, attributed }) => attributed !== size - missing)) process.exitCode = 1;

async function measure(size, { proxy, key, owner, cpuSeconds }) {
  const [begun, cpuBefore] = [performance.now(), cpuSeconds()];
  const secondsSince = () => Number(((performance.now() - begun) / 1_000).toFixed(2));
  let [rounds, firstSeconds, attributed] = [0, 0, 0];
  for (;;) {
    const round = await post(proxy, key);
    rounds += 1;
    firstSeconds ||= secondsSince();
    if (round.failure !== null) throw new Error(`the round failed: ${round.failure}`);
    const before = attributed;
    attributed = await countAttributed(owner);
    if (attributed === before || attributed === size - missing) break;
  }
  const seconds = secondsSince();
  const cpu = Number((cpuSeconds() - cpuBefore).toFixed(2));
  return { size, seconds, cpu, firstSeconds, rounds, attributed };
}

async function countAttributed(owner) {
  const { rows } = await owner.query(
    `SELECT count(DISTINCT (call_id, position))::int AS count FROM book_transaction
     WHERE call_id IS NOT NULL`,
  );
  return rows[0].count;
}

async function post({ url }, key) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/reconciliation/resolver/rounds`, {
    method: 'POST',
    headers,
    body: '{}',
  });
  if (!answer.ok) throw new Error(`the round was rejected: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
