import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const MODEL = pathToFileURL(join(__dirname, '..', '..', 'bench', 'scaling', 'model.mjs')).href;

/** Costs of a call: 0.5 ms of a proxy, 0.25 ms of Postgres, of which a tenth is deferred, and 5 kB. */
const CASE = {
  syncMs: 0,
  connections: 32,
  proxyCpuMs: 0.5,
  workerCpuMs: 0.05,
  walBytes: 5_000,
  commits: 0.2,
};
const MEASURED = [
  { ...CASE, worker: true, postgresCpuMs: 0.25 },
  { ...CASE, worker: false, workerCpuMs: 0, postgresCpuMs: 0.15 },
];

interface Need {
  rate: number;
  cells: number;
  processes: number;
  postgresCores: number;
  walMbPerSecond: number;
  gbPerDay: number;
}

interface Model {
  limits: { what: string; rate: number }[];
  each: number;
  needs: Need[];
  waits: { commitMs: number; addedMs: number; inFlight: number }[];
}

describe('the capacity model', () => {
  const program = `
    import { commitWaits, costsOf, limitsOf, needsOf, rateOfACell } from '${MODEL}';
    const costs = costsOf(${JSON.stringify(MEASURED)});
    const [limits, each] = [limitsOf(costs), rateOfACell(costs)];
    console.log(JSON.stringify({ limits, each, needs: needsOf(costs, 4000), waits: commitWaits(1000) }));`;
  const { limits, each, needs, waits } = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', program]).toString(),
  ) as Model;
  const limit = (word: string) => Math.round(limits.find(({ what }) => what.includes(word))!.rate);

  it('computes the limits of each part from its cost', () => {
    expect(['proxy process', 'core of Postgres', 'index', 'of 125 MB/s'].map(limit)).toEqual([
      2_000, 4_000, 10_000, 25_000,
    ]);
  });

  it('allows a cell half of the smallest fixed limit', () => {
    expect(Math.round(each)).toBe(5_000);
  });

  it('adds processes and cores before cells', () => {
    const at = (rate: number) => needs.find((one) => one.rate === rate)!;
    expect(at(1_000)).toEqual({
      rate: 1_000,
      cells: 1,
      processes: 1,
      postgresCores: 1,
      walMbPerSecond: 5,
      gbPerDay: 345.6,
    });
    expect(at(10_000)).toMatchObject({ cells: 2, processes: 10, postgresCores: 6, walMbPerSecond: 25 });
  });

  it('adds latency and calls in flight for waits, and no cost', () => {
    expect(waits.find(({ commitMs }) => commitMs === 5)).toEqual({ commitMs: 5, addedMs: 15, inFlight: 15 });
  });
});
