import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BUILT = join(__dirname, '../../dist/platform/database/pools/group-commit.js');
const ROWS = 100;
const ROW_BYTES = 40_000; // V8 puts larger objects into the old space at once

/**
 * Prints the growth of the old space in bytes. A process of its own, because the heap of a test has a past.
 */
const PROGRAM = `
  const { getHeapSpaceStatistics } = require('node:v8');
  const { GroupCommit } = require(${JSON.stringify(BUILT)});
  const isOld = ({ space_name }) => space_name === 'old_space';
  const oldBytes = () => getHeapSpaceStatistics().find(isOld).space_used_size;
  async function write() {
    const write = async (rows) => rows.map(() => 1);
    const group = new GroupCommit(write, () => 1, ${ROWS}, { timeoutMs: 60_000 });
    for (let count = 0; count < ${ROWS}; count += 1) {
      await group.add(Array.from({ length: ${ROW_BYTES} / 40 }, (_, place) => ({ place })));
      gc({ type: 'minor' });
    }
  }
  (async () => {
    await write(); // makes everything that is made once, such as compiled code
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
