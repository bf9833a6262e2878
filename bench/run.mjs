/**
 * npm run bench: compares the product with the contestants. All of them run at the same time and are measured in turns,
 * A B C A B C, so that other load on the machine affects all of them alike. Only ratios within one run are meaningful.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { contestants, ESSENTIAL, start } from './contestants.mjs';
import { FULL, nameOf, SHORT } from './matrix.mjs';
import { ratiosOf, summarise, tableOf } from './report.mjs';
import { machine } from './support/machine.mjs';
import { costs, settle } from './support/costs.mjs';
import { familyOf, rssOf } from './support/processes.mjs';
import { withScene } from './support/scene.mjs';

/** Once it is warm, for the same operation with another load. */
const AGAIN_WARM_SECONDS = 0.5;

const positive = (text) => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('must be a number over 0');
  return Number(text);
};

const options = new Command('npm run bench --')
  .description('measure the proxy beside others that do the same, or less')
  .option('--short', 'three rows of the matrix and six contestants, in less than two minutes')
  .option('--rounds <number>', 'how often each is asked for each row', positive)
  .option('--seconds <number>', 'for how long each time', positive)
  .option('--rows <numbers>', 'only these rows of the matrix: 1,3', (text) => text.split(',').map(Number))
  .option('--only <names>', 'only these contestants, with commas between them', (text) => text.split(','))
  .option('--against <folder>', 'also another, built checkout of the product')
  .option('--results <folder>', 'where latest.json goes', join(import.meta.dirname, 'results'))
  .addHelpText(
    'after',
    `
Examples:
  npm run bench -- --short
  npm run bench -- --rows 1,3 --rounds 9 --against ../payout-proxy-before`,
  )
  .parse()
  .opts();

const { short = false } = options;
const rounds = options.rounds ?? 3;
const seconds = options.seconds ?? (short ? 0.8 : 1.5);
/** Until V8 has compiled frequent code. */
const warmUpSeconds = short ? 2 : 5;
const rows = (short ? SHORT : FULL).filter((_row, place) => options.rows?.includes(place + 1) ?? true);
const names = [
  ...contestants().filter((name) => (options.only ?? (short ? ESSENTIAL : undefined))?.includes(name) ?? true),
  ...(options.against ? [options.against] : []),
];

await withScene(async (scene) => {
  const racing = [];
  for (const [place, name] of names.entries()) {
    show(`starting ${name}`);
    const one = await start(name, await scene.place(`bench_${place}`));
    scene.end(one.stop);
    racing.push({ name, ...one });
  }
  const measured = [];
  for (const [place, row] of rows.entries()) {
    scene.upstream.tell(row.delayMs);
    measured.push(await measure(row, racing, scene, `row ${place + 1} of ${rows.length}`));
    done(tableOf(measured.at(-1)));
    // After each row, so that an interrupted run keeps its results.
    write({ machine: machine(), rounds, seconds, rows: measured });
  }
});

async function measure(row, racing, scene, where) {
  const cells = new Map(racing.map(({ name }) => [name, []]));
  for (const one of racing) {
    show(`${where}: warming up ${one.name}`);
    await scene.ask(roundOf(one, row, one.warmFor === row.operation ? AGAIN_WARM_SECONDS : warmUpSeconds));
    one.warmFor = row.operation;
    await settle(one, scene.postgres);
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const one of racing) {
      show(`${where}, round ${round} of ${rounds}: ${one.name}`);
      cells.get(one.name).push(await measureOnce(one, row, scene));
    }
  }
  return { ...row, name: nameOf(row), contestants: summarise(cells) };
}

async function measureOnce(one, row, { postgres, ask }) {
  const before = await costs(one, postgres);
  const { requests, seconds: took, failures, ...load } = await ask(roundOf(one, row, seconds));
  const rssMb = one.pids.length > 0 ? Math.max(...one.pids.flatMap(familyOf).map(rssOf)) : null;
  await settle(one, postgres);
  const after = await costs(one, postgres);
  const each = (name, scale = 1) => ((after[name] - before[name]) * scale) / requests;
  return {
    requestsPerSecond: requests / took,
    medianMs: load.medianMs,
    p99Ms: load.p99Ms,
    proxyCpuPer1000: each('proxyCpu', 1_000),
    postgresCpuPer1000: each('postgresCpu', 1_000),
    loadCpuPer1000: (load.cpuSeconds * 1_000) / requests,
    commits: each('commits'),
    walBytes: each('walBytes'),
    rssMb,
    failures,
  };
}

function roundOf({ urls, apiKey }, { operation, connections, idempotencyKeys }, seconds) {
  return { urls, apiKey, operation, connections, idempotencyKeys, seconds };
}

function write(results) {
  mkdirSync(options.results, { recursive: true });
  const all = { ratios: ratiosOf(results.rows[0]), ...results };
  writeFileSync(join(options.results, 'latest.json'), `${JSON.stringify(all, null, 2)}\n`);
}

function show(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function done(text) {
  show('');
  process.stdout.write(`${text}\n`);
}
