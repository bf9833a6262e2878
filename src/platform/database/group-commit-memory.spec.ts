import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GroupCommit } from './group-commit';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

const ROWS = 100;
const ROW_BYTES = 40_000; // Less than what V8 puts into the old space at once.

const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;

describe('the rows of a group commit', () => {
  /** Writes rows one after another. After each, the garbage collector takes what nothing holds of the youngest objects. */
  async function write(): Promise<void> {
    const group = new GroupCommit<object[], number>(
      (rows) => Promise.resolve(rows.map((_row, place) => place)),
      () => 1,
      ROWS,
      { patienceMs: 60_000 },
    );
    for (let count = 0; count < ROWS; count += 1) {
      await group.add(Array.from({ length: ROW_BYTES / 40 }, (_, place) => ({ place })));
      gc({ type: 'minor' });
    }
  }

  it('do not outlive their commit until the next full garbage collection', async () => {
    await write(); // What is made once, such as compiled code, is there afterwards.
    gc();
    const before = oldBytes();
    await write();
    expect(oldBytes() - before).toBeLessThan((ROWS * ROW_BYTES) / 4);
  });
});
