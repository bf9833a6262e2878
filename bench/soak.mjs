/** npm run bench:soak: shows whether memory stays constant under load, minute by minute. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { machine } from './support/machine.mjs';
import { rssOf } from './support/processes.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';

const SAMPLES_PER_MINUTE = 6;

const { minutes, connections, delay, results } = new Command('npm run bench:soak --')
  .description('keep the proxy under load and watch its memory')
  .option('--minutes <number>', 'duration', Number, 10)
  .option('--connections <number>', 'connections of the load', Number, 32)
  .option('--delay <ms>', 'delay of the upstream', Number, 0)
  .option('--results <folder>', 'folder of soak.json', join(import.meta.dirname, 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:soak -- --minutes 2 --connections 128')
  .parse()
  .opts();

await withScene(async ({ upstream, place, end, ask }) => {
  upstream.tell({ delayMs: delay });
  const product = await startProduct(await place('soaked'));
  end(product.stop);
  const { urls, apiKey } = product;
  const [pid] = product.pids;
  const round = { urls, apiKey, operation: 'airtime', connections, idempotencyKeys: false };
  const samples = [{ minute: 0, requests: 0, rssMb: rounded(rssOf(pid)) }];
  say(samples[0]);
  for (let sample = 1; sample <= minutes * SAMPLES_PER_MINUTE; sample += 1) {
    const { requests, failures } = await ask({ ...round, seconds: 60 / SAMPLES_PER_MINUTE });
    samples.push({
      minute: rounded(sample / SAMPLES_PER_MINUTE),
      requests,
      rssMb: rounded(rssOf(pid)),
      failures,
    });
    say(samples.at(-1));
  }
  mkdirSync(results, { recursive: true });
  const all = { machine: machine(), connections, delay, samples };
  writeFileSync(join(results, 'soak.json'), `${JSON.stringify(all, null, 2)}\n`);
});

function say({ minute, requests, rssMb, failures = [] }) {
  const failed = failures.map(([text, times]) => ` ${times} times ${text}`).join(';');
  process.stdout.write(
    `minute ${minute.toFixed(1).padStart(5)} ${String(requests).padStart(7)} requests ` +
      `${rssMb.toFixed(0).padStart(5)} MB ${'█'.repeat(rssMb / 10)}${failed}\n`,
  );
}

function rounded(value) {
  return Math.round(value * 10) / 10;
}
