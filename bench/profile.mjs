/** npm run bench:profile: where the product's own time goes under load, as a flame graph and for the tools that read V8's profiles. */
import { fork } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { costliest, flameGraph } from './support/flame-graph.mjs';
import { startPostgres } from './support/postgres.mjs';
import { startNode } from './support/processes.mjs';
import { startProduct } from './support/product.mjs';

const WARM_UP_SECONDS = 5;

const { operation, connections, seconds, delay, keys, results } = new Command('npm run bench:profile --')
  .description(
    'profile the proxy under load: profile.svg is a flame graph, profile.cpuprofile opens in a browser’s developer tools',
  )
  .option('--operation <name>', 'airtime (2 items) or momo (500)', 'airtime')
  .option('--connections <number>', 'of the load', Number, 32)
  .option('--seconds <number>', 'for how long', Number, 5)
  .option('--delay <ms>', 'of the upstream', Number, 0)
  .option('--keys', 'with idempotency keys', false)
  .option('--results <folder>', 'where the files go', join(import.meta.dirname, 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:profile -- --operation momo --connections 4 --seconds 10')
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
  mkdirSync(results, { recursive: true });
  const file = join(postgres.dataDir, 'profile.json');
  const product = await startProduct({
    databaseUrl: await postgres.createDatabase('profiled'),
    upstreamUrl: upstream.url,
    dataDir: join(postgres.dataDir, 'product'),
    logFile: join(postgres.dataDir, 'product.log'),
    args: ['--import', join(import.meta.dirname, 'support', 'profiler.mjs')],
    env: { PROFILE_FILE: file },
  });
  stops.push(product.stop);
  const load = fork(join(import.meta.dirname, 'load', 'client.mjs'));
  stops.push(() => load.kill());
  const ask = (seconds) =>
    new Promise((resolve) => {
      load.once('message', resolve);
      load.send({ urls: product.urls, apiKey: product.apiKey, operation, connections, idempotencyKeys: keys, seconds });
    });
  await ask(WARM_UP_SECONDS);
  const [pid] = product.pids;
  process.kill(pid, 'SIGUSR2');
  const { requests } = await ask(seconds);
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await sleep(100);
  await sleep(500); // written whole
  const text = readFileSync(file, 'utf8');
  const profile = JSON.parse(text);
  writeFileSync(join(results, 'profile.cpuprofile'), text);
  writeFileSync(
    join(results, 'profile.svg'),
    flameGraph(profile, `${requests} requests of ${operation}, ${connections} connections`),
  );
  for (const { share, name } of costliest(profile, 25))
    process.stdout.write(`${(share * 100).toFixed(1).padStart(5)} %  ${name}\n`);
  process.stdout.write(`\n${join(results, 'profile.svg')} is the flame graph\n`);
}
