import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROWS = 100;
const ROW_BYTES = 40_000; // Less than what V8 puts into the old space at once.

/**
 * Prints the growth of the old space in bytes. A process of its own, because the heap of a test has a past.
 */
const PROGRAM = `
  const { getHeapSpaceStatistics } = require('node:v8');
  const { GroupCommit } = require(${JSON.stringify(join(__dirname, '..', '..', 'dist', 'platform', 'database', 'pools', 'group-commit.js'))});
  const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
  async function write() {
    const group = new GroupCommit(async (rows) => rows.map(() => 1), () => 1, ${ROWS}, { patienceMs: 60_000 });
    for (let count = 0; count < ${ROWS}; count += 1) {
      await group.add(Array.from({ length: ${ROW_BYTES} / 40 }, (_, place) => ({ place })));
      gc({ type: 'minor' });
    }
  }
  (async () => {
    await write(); // What is made once, such as compiled code, is there afterwards.
    gc();
    const before = oldBytes();
    await write();
    console.log(oldBytes() - before);
  })();`;

describe('the rows of a group commit', () => {
  it('are freed by the next full garbage collection', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '-e', PROGRAM]);
    expect(Number(stdout)).toBeLessThan((ROWS * ROW_BYTES) / 4);
  });
});
