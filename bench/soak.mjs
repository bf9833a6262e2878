/** npm run bench:soak: whether memory stays flat under load, minute by minute. */
import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { machine } from './support/machine.mjs';
import { startPostgres } from './support/postgres.mjs';
import { rssOf, startNode } from './support/processes.mjs';
import { startProduct } from './support/product.mjs';

const SAMPLES_PER_MINUTE = 6;

const { minutes, connections, delay, results } = new Command('npm run bench:soak --')
  .description('keep the proxy under load and watch its memory')
  .option('--minutes <number>', 'for how long', Number, 10)
  .option('--connections <number>', 'of the load', Number, 32)
  .option('--delay <ms>', 'of the upstream', Number, 0)
  .option('--results <folder>', 'where soak.json goes', join(import.meta.dirname, 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:soak -- --minutes 2 --connections 128')
  .parse()
  .opts();

const stops = [];
try {
  await run();
} finally {
  for (const stop of stops.reverse()) await stop();
}

async function run() {
  const postgres = await startPostgres();
  stops.push(postgres.stop);
  const upstream = await startNode(join(import.meta.dirname, 'load', 'upstream.mjs'), {
    env: { DELAY_MS: String(delay) },
  });
  stops.push(upstream.stop);
  const product = await startProduct({
    databaseUrl: await postgres.createDatabase('soaked'),
    upstreamUrl: upstream.url,
    dataDir: join(postgres.dataDir, 'product'),
    logFile: join(postgres.dataDir, 'product.log'),
  });
  stops.push(product.stop);
  const load = fork(join(import.meta.dirname, 'load', 'client.mjs'));
  stops.push(() => load.kill());
  const [pid] = product.pids;
  const samples = [{ minute: 0, requests: 0, rssMb: round(rssOf(pid)) }];
  say(samples[0]);
  for (let sample = 1; sample <= minutes * SAMPLES_PER_MINUTE; sample += 1) {
    const { requests, failures } = await new Promise((resolve) => {
      load.once('message', resolve);
      const round = {
        urls: product.urls,
        apiKey: product.apiKey,
        operation: 'airtime',
        connections,
        idempotencyKeys: false,
      };
      load.send({ ...round, seconds: 60 / SAMPLES_PER_MINUTE });
    });
    samples.push({ minute: round(sample / SAMPLES_PER_MINUTE), requests, rssMb: round(rssOf(pid)), failures });
    say(samples.at(-1));
  }
  mkdirSync(results, { recursive: true });
  writeFileSync(
    join(results, 'soak.json'),
    `${JSON.stringify({ machine: machine(), connections, delay, samples }, null, 2)}\n`,
  );
}

function say({ minute, requests, rssMb, failures = [] }) {
  const failed = failures.map(([text, times]) => ` ${times} times ${text}`).join(';');
  process.stdout.write(
    `minute ${minute.toFixed(1).padStart(5)} ${String(requests).padStart(7)} requests ${rssMb.toFixed(0).padStart(5)} MB ${'█'.repeat(rssMb / 10)}${failed}\n`,
  );
}

function round(value) {
  return Math.round(value * 10) / 10;
}
