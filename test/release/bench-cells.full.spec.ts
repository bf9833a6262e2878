import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SCALING = join(__dirname, '..', '..', 'bench', 'scaling');
const urlOf = (file: string) => pathToFileURL(join(SCALING, file)).href;

/** Evaluates an expression with the modules of the simulation, in a separate process. */
function evaluated<Result>(expression: string): Result {
  const program = `
    import { simulate } from '${urlOf('cells/simulation.mjs')}';
    import { loadsOf, placed, runScenario } from '${urlOf('cells/scenarios.mjs')}';
    import { placeOf } from '${urlOf('placement.mjs')}';
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const cells = [{ capacity: 100 }];
    const one = (rate, more) =>
      simulate({ clients: [{ rate, cell: 0 }], cells, seconds: 4000, seed: 1, ...more });
    console.log(JSON.stringify(${expression}));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', program]).toString(),
  ) as Result;
}

/** Relative tolerance to the formula. More events come closer. */
const CLOSE = 0.06;
const expectClose = (actual: number, expected: number) =>
  expect(Math.abs(actual / expected - 1)).toBeLessThan(CLOSE);

describe('the simulation of cells', () => {
  it.each([
    [50, 0.5 / (2 * 100 * 0.5)],
    [80, 0.8 / (2 * 100 * 0.2)],
  ])('follows the Pollaczek-Khinchine formula at %i of 100 calls/s of fixed length', (rate, expected) => {
    expectClose(evaluated(`mean(one(${rate}).waits)`), expected);
  });

  it('follows the queueing formula for random lengths', () => {
    expectClose(evaluated(`mean(one(70, { service: 'random' }).waits)`), 0.7 / (100 * 0.3));
  });

  it('uses a cell in proportion to its load', () => {
    expectClose(evaluated('one(60).busy[0]'), 0.6);
  });

  it('refuses the calls of an outage except its last seconds, and drains the backlog', () => {
    // Of 100 s, all but the last 2 s are refused: 98 s. The backlog of 2 s delays later calls by at most
    // that.
    const [{ sent, refused }, longest] = evaluated<[{ sent: number; refused: number }, number]>(`(() => {
      const outages = [{ from: 1000, to: 1100 }];
      const { totals, waits } = one(20, { patience: 2, cells: [{ capacity: 100, outages }] });
      return [totals[0], Math.max(...waits)];
    })()`);
    expectClose(refused, 98 * 20);
    expectClose(sent, 4_000 * 20);
    expect(longest).toBeLessThanOrEqual(2);
    expect(longest).toBeGreaterThan(1.8);
  });

  it('sends more calls of a hot client, and no more of others', () => {
    const [hot, calm] = evaluated<
      { sent: number }[]
    >(`simulate({ clients: [{ rate: 10, cell: 0 }, { rate: 10, cell: 0 }],
      cells: [{ capacity: 1000 }], seconds: 4000, seed: 3,
      surges: [{ client: 0, from: 0, to: 2000, times: 5 }] }).totals`);
    expectClose(hot!.sent, 2_000 * 50 + 2_000 * 10);
    expectClose(calm!.sent, 4_000 * 10);
  });

  it('refuses load above the capacity permanently', () => {
    const { sent, refused } = evaluated<{ sent: number; refused: number }>(
      'one(200, { patience: 1 }).totals[0]',
    );
    expectClose(refused / sent, 0.5);
  });

  it('moves clients only to a new cell, one in n', () => {
    const moved = evaluated<number[]>(
      `Array.from({ length: 4000 }, (_, n) => 'c' + n).filter((name) => placeOf(name, 8) !== ` +
        'placeOf(name, 7)).map((name) => placeOf(name, 8))',
    );
    expect(new Set(moved)).toEqual(new Set([7]));
    expect(Math.abs(moved.length / 4_000 - 1 / 8)).toBeLessThan(0.02);
  });

  it('places the largest clients in separate cells', () => {
    const places = evaluated<number[]>('placed([1, 9, 8, 1, 7], 3, "load")');
    expect(new Set([places[1], places[2], places[4]]).size).toBe(3);
  });

  it('affects only the clients of the failed cell', () => {
    const options =
      `{ cells: 4, placement: 'load', clients: 100, rate: 100, use: 0.3, tail: 1.5, outage: 60, failover: ` +
      '5, patience: 2, minutes: 10, seed: 5 }';
    const { hit, inCell } = evaluated<{ hit: number; inCell: number }>(`(() => {
      const rates = loadsOf({ clients: 100, rate: 100, tail: 1.5, seed: 5 });
      const places = placed(rates, 4, 'load');
      const worst = places[rates.indexOf(Math.max(...rates))];
      const { clientsHitShare: hit } = runScenario('cell down', ${options});
      return { hit, inCell: places.filter((place) => place === worst).length / 100 };
    })()`);
    expect(hit).toBeGreaterThan(0);
    expect(hit).toBeLessThanOrEqual(inCell);
  });

  it('gives the same result for the same seed, and writes it with its chart', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-cells-'));
    try {
      const run = (name: string) => {
        const files = ['--results', folder, '--picture', join(folder, `${name}.svg`)];
        const small = [
          '--cells',
          '1,2',
          '--clients',
          '20',
          '--rate',
          '20',
          '--minutes',
          '3',
          '--outage',
          '30',
        ];
        execFileSync(process.execPath, [join(SCALING, 'cells.mjs'), ...files, ...small]);
        return [
          readFileSync(join(folder, 'cells.json'), 'utf8'),
          readFileSync(join(folder, `${name}.svg`), 'utf8'),
        ];
      };
      const [first, second] = [run('first'), run('second')];
      expect(second).toEqual(first);
      expect(first[1]).toMatch(/^<svg [^]*prefers-color-scheme:dark[^]*<\/svg>\n$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
