import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const BUILT = join(__dirname, '..', '..', '..', 'dist', 'app', 'start', 'memory.js');

/** Prints the size of the young generation in MB, and whether garbage was collected, in a new process. */
const SCRIPT = `
  const { getHeapSpaceStatistics } = require('node:v8');
  const { afterStart, startSmall } = require(${JSON.stringify(BUILT)});
  const isYoung = ({ space_name }) => space_name === 'new_space';
  const young = () => getHeapSpaceStatistics().find(isYoung).space_size / 1e6;
  const survivors = () => Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
  startSmall();
  const kept = survivors();
  const starting = young();
  let garbage = survivors();
  const left = new WeakRef(garbage);
  garbage = undefined;
  setTimeout(() => {
    afterStart();
    const collected = left.deref() === undefined;
    kept.push(survivors());
    console.log(JSON.stringify({ starting, collected, settled: young(), exposed: typeof gc }));
  });
`;

/** Prints whether a function stays compiled while there are no objects for it. */
const LULL = `
  const { afterStart } = require(${JSON.stringify(BUILT)});
  const read = (value) => value.left + value.right;
  const ask = () => read(JSON.parse('{"left":1,"right":2}'));
  const isCompiled = () => (%GetOptimizationStatus(read) & 16) !== 0;
  afterStart();
  %PrepareFunctionForOptimization(read);
  ask();
  ask();
  %OptimizeFunctionOnNextCall(read);
  ask();
  const before = isCompiled();
  setTimeout(() => {
    for (let time = 0; time < 5; time += 1) gc();
    ask();
    console.log(JSON.stringify({ before, after: isCompiled() }));
  });
`;

describe('the memory of a start', () => {
  it('keeps the young generation small until the start is over, and collects once', () => {
    const said = execFileSync(process.execPath, ['-e', SCRIPT], { encoding: 'utf8' });
    const { starting, collected, settled, exposed } = JSON.parse(said) as Record<string, unknown>;
    expect(starting).toBeLessThan(4);
    expect(collected).toBe(true);
    expect(settled).toBeGreaterThan(8);
    expect(exposed).toBe('undefined');
  });

  it('keeps compiled code during a lull', () => {
    const said = execFileSync(process.execPath, ['--allow-natives-syntax', '--expose-gc', '-e', LULL], {
      encoding: 'utf8',
    });
    expect(JSON.parse(said)).toEqual({ before: true, after: true });
  });
});
