/**
 * npm run bench:growth: measures the speed with histories of several lengths. It fills a database for each
 * size with a generated history, which a proxy seals. Then calls are sent and the history is searched, in
 * turns, A B C A B C. At last, the search index is rebuilt and verified.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { URL } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { databaseOf, fillAll, filledIn, note, requireRoom } from './growth/filling.mjs';
import { rebuiltAndVerified } from './growth/indexing.mjs';
import { insertRounds, searchRounds, spreadOf } from './growth/measuring.mjs';
import { sealed } from './growth/sealing.mjs';
import { median } from './report.mjs';
import { machine } from './support/machine.mjs';
import { makeFolder } from './support/postgres.mjs';
import { rssOf } from './support/processes.mjs';
import { startProduct } from './support/product.mjs';
import { withScene } from './support/scene.mjs';
import { growthTable } from './tables.mjs';

const positive = (text) => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('must be a number over 0');
  return Number(text);
};
const whole = (text) => {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('must be whole numbers from 1 to 999999999');
  return Number(text);
};
const ascending = (text) =>
  text
    .split(',')
    .map(whole)
    .sort((a, b) => a - b);

const options = new Command('npm run bench:growth --')
  .description('measure inserting, searching, indexing, sealing and memory with histories of several sizes')
  .option(
    '--sizes <numbers>',
    'comma-separated numbers of calls',
    ascending,
    [100_000, 1_000_000, 10_000_000],
  )
  .option('--days <number>', 'days over which the calls are spread, until now', whole, 180)
  .option('--seed <number>', 'seed of the histories', whole, 1)
  .option('--rounds <number>', 'turns of each size', whole, 5)
  .option('--seconds <number>', 'length of a turn', positive, 3)
  .option('--requests <number>', 'requests of each filter in a turn', whole, 20)
  .option('--deep', 'also page 1,000 of each filter')
  .option('--index <number>', 'largest history whose search index is rebuilt and verified', whole, 1_000_000)
  .option('--seal <seconds>', 'longest sealing time; other measurements run without sealers', positive)
  .option('--data <folder>', 'folder that keeps the databases, and may already have some')
  .option('--before <file>', 'growth.json of an older commit, to compare with')
  .option('--results <folder>', 'folder of growth.json', join(import.meta.dirname, 'results'))
  .addHelpText(
    'after',
    `
Ten million calls need about 50 GB, and 45 minutes of two cores. The databases are deleted at the end,
unless --data names a folder for them.

Examples:
  npm run bench:growth
  npm run bench:growth -- --sizes 10000,100000 --rounds 3
  npm run bench:growth -- --before ../older/bench/results/growth.json
  npm run bench:growth -- --data /var/tmp/growth     # the same command resumes an interrupted run`,
  )
  .parse()
  .opts();

/** Returns an address with the login of another that no sealer can connect to, so that it rests. */
function unreachable(databaseUrl) {
  const url = new URL(databaseUrl);
  url.port = '9';
  return url.href;
}

const interrupted = new Promise((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => reject(new Error(`ended by ${signal}`)));
});

const folder = options.data ? resolve(options.data) : makeFolder('payout-proxy-growth-');
try {
  requireRoom(folder, options.sizes);
  await Promise.race([fillAll(folder, options.sizes, options), interrupted]);
  const scene = { keep: folder };
  const sizes = await withScene((found) => Promise.race([measure(found), interrupted]), scene);
  const { days, rounds, seconds, requests } = options;
  const before = options.before && JSON.parse(readFileSync(options.before, 'utf8'));
  const results = { machine: machine(), days, rounds, seconds, requests, sizes, before };
  mkdirSync(options.results, { recursive: true });
  writeFileSync(join(options.results, 'growth.json'), `${JSON.stringify(results, null, 2)}\n`);
  process.stdout.write(`${growthTable(results)}\n`);
} catch (error) {
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
} finally {
  if (!options.data) rmSync(folder, { recursive: true, force: true });
  // A filling that was interrupted would go on.
  if (process.exitCode !== undefined) process.exit();
}

async function measure(scene) {
  const subjects = [];
  for (const calls of options.sizes) subjects.push(await startSubject(calls, scene));
  const searches = await searchRounds(subjects, options);
  const inserts = await insertRounds(subjects, scene, options);
  const indexes = await rebuiltAndVerified(subjects, scene, options.index);
  const [smallest] = options.sizes;
  const p95s = new Map(searches.get(smallest).map(({ name, p95 }) => [name, p95]));
  return subjects.map(({ calls, database, bytes, filling, sealing, rssAtRestMb }) => {
    const rates = inserts.get(calls).map(({ requestsPerSecond }) => requestsPerSecond);
    const ratios = rates.map((rate, round) => rate / inserts.get(smallest)[round].requestsPerSecond);
    return {
      calls,
      database,
      bytes,
      filling,
      sealing,
      rssAtRestMb,
      insert: { ...spreadOf(inserts.get(calls)), ratio: median(ratios) },
      index: indexes.get(calls) ?? null,
      searches: searches.get(calls).map((one) => ({ ...one, ratio: one.p95 / p95s.get(one.name) })),
    };
  });
}

/** Starts a proxy on the database of a size, and waits until all is sealed, or for the given time. */
async function startSubject(calls, { postgres, upstream, end }) {
  const database = databaseOf(calls);
  const databaseUrl = postgres.urlOf(database);
  const startProxy = (env) =>
    startProduct({
      databaseUrl,
      upstreamUrl: upstream.url,
      client: false,
      dataDir: join(folder, `proxy-${calls}`),
      logFile: join(folder, `proxy-${calls}.log`),
      // It would request generated calls in doubt of years.
      env: { WALLETS_EVERY_SECONDS: '0', RESOLVER_EVERY_SECONDS: '0', ...env },
    });
  let product = await startProxy();
  end(() => product.stop());
  const sealing = await sealed(product, databaseUrl, `${calls.toLocaleString('en')} calls`, options.seal);
  if (sealing) note(folder, calls, { sealing });
  if (options.seal) {
    await product.stop();
    product = await startProxy({ DATABASE_SEALER_URL: unreachable(databaseUrl) });
  }
  const rssAtRestMb = rssOf(product.pids[0]);
  const bytes = await postgres.sizeOf(database);
  return { ...product, ...filledIn(folder, calls), calls, database, bytes, rssAtRestMb };
}
