/**
 * Watches a disk independently of the measurement. The disk of a virtual machine sometimes stops for a tenth
 * of a second for any load, and every commit waits.
 */
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time that shows a stopped disk. Otherwise a page reaches a busy disk within 15 ms. */
export const DISK_STOPS_MS = 40;

const PAGE = Buffer.alloc(8_192, 1);
/** Size of the file. It is written once and then overwritten, as Postgres does with its log. */
const PAGES = 500;
const EVERY_MS = 20;

/** @returns {longestMs, stop}. `longestMs` returns the longest write of a page since its last call. */
export async function watchDisk(folder) {
  const path = join(folder, 'disk-probe');
  const file = await open(path, 'w');
  for (let page = 0; page < PAGES; page += 1) await file.write(PAGE);
  await file.datasync();
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
      await file.close();
      await rm(path);
    },
  };

  async function watch() {
    for (let page = 0; !isOver; page = (page + 1) % PAGES) {
      await file.write(PAGE, 0, PAGE.length, page * PAGE.length);
      const begun = performance.now();
      await file.datasync();
      longestMs = Math.max(longestMs, performance.now() - begun);
      await sleep(EVERY_MS);
    }
  }
}
