/**
 * npm run bench:scaling:cells: simulates clients in cells through a failover, the loss of a whole cell and a
 * hot client. A discrete-event simulation: `cells/simulation.mjs` has the model, and
 * test/release/bench-cells.full.spec.ts compares it with formulas.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { pictureOf } from './cells/picture.mjs';
import { SCENARIOS, runScenario } from './cells/scenarios.mjs';
import { rounded } from './figures.mjs';

const positive = (text) => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('must be a number over 0');
  return Number(text);
};

const { picture, results, ...options } = new Command('npm run bench:scaling:cells --')
  .description('simulate clients in cells under failure, in some seconds')
  .option(
    '--cells <numbers>',
    'numbers of cells to compare',
    (text) => text.split(',').map(positive),
    [1, 4, 16],
  )
  .option('--clients <number>', 'clients in all', positive, 400)
  .option('--rate <number>', 'calls per second of all clients', positive, 400)
  .option('--use <share>', 'share of all capacity that is used without a failure', positive, 0.5)
  .option(
    '--tail <exponent>',
    'loads of clients: Pareto with this exponent; smaller is heavier',
    positive,
    1.3,
  )
  .option('--failover <seconds>', 'duration of a failover', positive, 30)
  .option('--outage <seconds>', 'duration of an outage of a cell', positive, 120)
  .option('--patience <seconds>', 'longest wait of a call before it is refused', positive, 2)
  .option('--minutes <number>', 'simulated time', positive, 10)
  .option('--seed <number>', 'seed of the random numbers', positive, 23)
  .option(
    '--picture <file>',
    'SVG to write',
    join(import.meta.dirname, '..', '..', 'docs', 'operate', 'cells.svg'),
  )
  .option('--results <folder>', 'folder for cells.json', join(import.meta.dirname, '..', 'results'))
  .addHelpText('after', '\nExample:\n  npm run bench:scaling:cells -- --cells 2,8,32 --use 0.7 --failover 30')
  .parse()
  .opts();

const measured = options.cells.flatMap((cells) =>
  Object.keys(SCENARIOS).flatMap((scenario) =>
    ['hash', 'load'].map((placement) => runScenario(scenario, { ...options, cells, placement })),
  ),
);
process.stdout.write(`${tableOf(measured)}\n`);
mkdirSync(results, { recursive: true });
writeFileSync(join(results, 'cells.json'), `${JSON.stringify({ options, measured }, null, 2)}\n`);
writeFileSync(picture, pictureOf(measured));

function tableOf(all) {
  const head = [
    'cells',
    'scenario',
    'placed by',
    'refused %',
    'clients hit %',
    'worst %',
    'p99 wait ms',
    'max use',
    'spare',
  ];
  const lines = all.map((one) => [
    one.cells,
    one.scenario,
    one.placement,
    rounded(one.refusedShare * 100, 2),
    rounded(one.clientsHitShare * 100, 1),
    rounded(one.worstAvailability * 100, 1),
    rounded(one.p99WaitMs, 1),
    rounded(one.largestUse, 2),
    rounded(one.capacityNeeded, 2),
  ]);
  return [head, ...lines].map((cells) => cells.map((cell) => String(cell).padStart(14)).join('')).join('\n');
}
