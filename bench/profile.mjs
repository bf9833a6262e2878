/** npm run bench:profile: profiles the product under load, as a flame graph and as a V8 profile. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { costliest, flameGraph } from './support/flame-graph.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';

const WARM_UP_SECONDS = 5;

const { operation, connections, seconds, delay, keys, results } = new Command('npm run bench:profile --')
  .description(
    'profile the proxy under load: profile.svg is a flame graph, profile.cpuprofile opens in a ' +
      'browser’s developer tools',
  )
  .option('--operation <name>', 'airtime (2 items) or momo (500)', 'airtime')
  .option('--connections <number>', 'connections of the load', Number, 32)
  .option('--seconds <number>', 'duration', Number, 5)
  .option('--delay <ms>', 'delay of the upstream', Number, 0)
  .option('--keys', 'with idempotency keys', false)
  .option('--results <folder>', 'folder of the files', join(import.meta.dirname, 'results'))
  .addHelpText(
    'after',
    '\nExample:\n  npm run bench:profile -- --operation momo --connections 4 --seconds 10',
  )
  .parse()
  .opts();

await withScene(async ({ upstream, place, end, ask }) => {
  upstream.tell({ delayMs: delay });
  mkdirSync(results, { recursive: true });
  const dependencies = await place('profiled');
  const file = `${dependencies.dataDir}.cpuprofile`;
  const product = await startProduct({
    ...dependencies,
    // With a debugger, modules are loaded from their own files, by which the profile names them.
    args: ['--inspect=127.0.0.1:0', '--import', join(import.meta.dirname, 'support', 'profiler.mjs')],
    env: { PROFILE_FILE: file },
  });
  end(product.stop);
  const { urls, apiKey } = product;
  const round = { urls, apiKey, operation, connections, idempotencyKeys: keys };
  await ask({ ...round, seconds: WARM_UP_SECONDS });
  const [pid] = product.pids;
  process.kill(pid, 'SIGUSR2');
  const { requests } = await ask({ ...round, seconds });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await sleep(100);
  const profile = JSON.parse(readFileSync(file, 'utf8'));
  copyFileSync(file, join(results, 'profile.cpuprofile'));
  const title = `${requests} requests of ${operation}, ${connections} connections`;
  writeFileSync(join(results, 'profile.svg'), flameGraph(profile, title));
  for (const { share, name } of costliest(profile, 25)) {
    process.stdout.write(`${(share * 100).toFixed(1).padStart(5)} %  ${name}\n`);
  }
  process.stdout.write(`\n${join(results, 'profile.svg')} is the flame graph\n`);
});
