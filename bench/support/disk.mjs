/**
 * Watches a disk from outside of what is measured. The disk of a virtual machine sometimes stops for a tenth of a second,
 * whatever runs there, and then everybody who commits waits.
 */
import { fdatasync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const PAGE = Buffer.alloc(8_192, 1);
/** Written at first, and then overwritten, as Postgres does with its log. */
const PAGES = 500;
const EVERY_MS = 20;

/** @returns {longestMs, stop}. `longestMs` returns how long a page took at most to reach the disk, since it was last asked. */
export function watchDisk(folder) {
  const path = join(folder, 'disk-probe');
  const file = openSync(path, 'w');
  for (let page = 0; page < PAGES; page += 1) writeSync(file, PAGE);
  let [longestMs, isOver] = [0, false];
  const watching = watch();
  return {
    longestMs: () => {
      const longest = longestMs;
      longestMs = 0;
      return longest;
    },
    stop: async () => {
      isOver = true;
      await watching;
      rmSync(path, { force: true });
    },
  };

  async function watch() {
    await promisify(fdatasync)(file);
    for (let page = 0; !isOver; page = (page + 1) % PAGES) {
      writeSync(file, PAGE, 0, PAGE.length, page * PAGE.length);
      const begun = performance.now();
      await promisify(fdatasync)(file);
      longestMs = Math.max(longestMs, performance.now() - begun);
      await sleep(EVERY_MS);
    }
  }
}
