/**
 * npm run bench:burst: sends many payments at once to an upstream that takes seconds, with the defaults of
 * the product, alone and beside another client that pays at a fixed rate.
 */
import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import pg from 'pg';
import { burstTable } from './burst-table.mjs';
import { addKeys } from './history/keys.mjs';
import { machine } from './support/machine.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';

/** The default of UPSTREAM_CONNECTIONS. */
const PERMITS = 64;

/** A client shares the permits for a minute after its last request. */
const FORGOTTEN_MS = 61_000;

/** More payments than any patience allows at the pace, for an app that says it waits. */
const PATIENT = 'wait=60';

const list = (text) => text.split(',').map(Number);
const { numbers, delays, rate, quiet, results } = new Command('npm run bench:burst --')
  .description('measure bursts of payments')
  .option('--numbers <list>', 'payments of each burst', list, [200, 400, 1_000])
  .option('--delays <list>', 'seconds that the upstream takes', list, [1, 3])
  .option('--rate <number>', 'payments a second of the other client', Number, 10)
  .option('--quiet <seconds>', 'time in which the other client pays alone', Number, 30)
  .option('--results <folder>', 'folder of burst.json', join(import.meta.dirname, 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:burst -- --numbers 200 --delays 1 --quiet 10')
  .parse()
  .opts();

await withScene(async ({ place, upstream, end }) => {
  const dependencies = await place('burst');
  // 128 in other benchmarks
  const product = await startProduct({ ...dependencies, env: { UPSTREAM_CONNECTIONS: undefined } });
  end(product.stop);
  const [otherKey] = await addKeys(dependencies.databaseUrl, 'other', 1, ['pay']);
  const apps = startApps(product, end);
  const bursts = [];
  const measure = async (seconds, number, { prefer, other } = {}) => {
    const paid = () => paidIn(dependencies.databaseUrl);
    const before = await paid();
    const stop = other && apps.begin({ apiKey: otherKey, rate });
    if (other) await sleep(2 * seconds * 1_000);
    const answers = await apps.run({ burst: true, apiKey: product.apiKey, number, prefer });
    const besides = (await stop?.()) ?? [];
    const { calls, recipients } = await paid();
    const others = besides.filter(({ last }) => last === 200).length;
    bursts.push({
      seconds,
      number,
      prefer: prefer ?? null,
      ...figuresOf(answers),
      idealMs: idealOf(seconds, number, other ? rate : 0),
      unexplained: calls - before.calls - answers.filter(({ last }) => last === 200).length - others,
      twice: calls - recipients,
      other: other ? { quietP99Ms: other.quietP99Ms, ...figuresOfOther(besides) } : null,
    });
    process.stdout.write(`${JSON.stringify(bursts.at(-1))}\n`);
  };
  upstream.tell({ delayMs: 20 });
  await apps.run({ apiKey: product.apiKey, rate: 100, seconds: 10 }); // V8 compiles
  for (const seconds of delays) {
    upstream.tell({ delayMs: seconds * 1_000 });
    for (const number of numbers) await measure(seconds, number);
    if (Math.max(...numbers) * seconds > PERMITS * 20) {
      await measure(seconds, Math.max(...numbers), { prefer: PATIENT });
    }
  }
  for (const seconds of delays) {
    upstream.tell({ delayMs: seconds * 1_000 });
    await sleep(seconds === delays[0] ? 0 : FORGOTTEN_MS);
    const alone = await apps.run({ apiKey: otherKey, rate, seconds: quiet });
    const { p99Ms: quietP99Ms } = figuresOfOther(alone);
    for (const number of numbers) await measure(seconds, number, { other: { quietP99Ms } });
  }
  const all = { machine: machine(), permits: PERMITS, rate, bursts };
  process.stdout.write(`${burstTable(all)}\n`);
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'burst.json'), `${JSON.stringify(all, null, 2)}\n`);
});

/** Starts the apps. `run` resolves to the answers of a part, and `begin` returns a function that ends one. */
function startApps({ urls: [url] }, end) {
  let parts = 0;
  const [bursting, other] = ['0', '1000000'].map((firstSerial) => {
    const child = fork(join(import.meta.dirname, 'load', 'burst.mjs'), [firstSerial]);
    end(() => child.kill());
    return child;
  });
  const ask = (child, part) => {
    const id = (parts += 1);
    child.send({ ...part, url, part: id });
    return new Promise((resolve) => {
      const read = ({ part: answered, answers }) => {
        if (answered !== id) return;
        child.off('message', read);
        resolve(answers);
      };
      child.on('message', read);
    });
  };
  return {
    run: (part) => ask(part.burst ? bursting : other, part),
    begin: (part) => {
      const answers = ask(other, part);
      return () => {
        other.send({ end: true });
        return answers;
      };
    },
  };
}

/** Counts the payments that the upstream has carried out, and their recipients. All are different. */
async function paidIn(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    `SELECT count(*)::int AS calls, count(DISTINCT convert_from(b.body, 'UTF8'))::int AS recipients
     FROM outcome o JOIN intent_body b ON b.intent_id = o.intent_id WHERE o.kind = 'succeeded'`,
  );
  await client.end();
  return rows[0];
}

function figuresOf(answers) {
  const times = answers.map(({ lastMs }) => lastMs);
  return {
    paidAtFirst: answers.filter(({ first }) => first === 200).length,
    refusedAtFirst: answers.filter(({ first }) => first === 503).length,
    refusedWithinMs: Math.max(
      0,
      ...answers.flatMap(({ first, firstMs }) => (first === 503 ? [firstMs] : [])),
    ),
    paid: answers.filter(({ last }) => last === 200).length,
    refusals: countsOf(answers.flatMap(({ codes }) => codes)),
    mostAttempts: Math.max(...answers.map(({ attempts }) => attempts)),
    medianMs: quantile(times, 0.5),
    lastMs: Math.max(...times),
  };
}

function figuresOfOther(answers) {
  return {
    payments: answers.length,
    paid: answers.filter(({ last }) => last === 200).length,
    p99Ms: quantile(
      answers.map(({ lastMs }) => lastMs),
      0.99,
    ),
  };
}

function countsOf(values) {
  const counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Returns the time in which the permits that the other client does not use carry out a burst, in ms. */
function idealOf(seconds, number, otherRate) {
  const permits = PERMITS - otherRate * seconds;
  return Math.ceil(number / permits) * seconds * 1_000;
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
