import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(65_536, 1);

/** A file system of its own, small and in memory, that can be filled. */
export interface SmallDisk {
  folder: string;
  /** Writes until no block is left. */
  fill: () => void;
  free: () => void;
  close: () => void;
}

/** Whether this user may mount one. */
export function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  if (status === 0) execFileSync('umount', [folder]);
  rmdirSync(folder);
  return status === 0;
}

export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  chmodSync(folder, 0o755);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => fillUp(filler),
    free: () => rmSync(filler, { force: true }),
    close: () => {
      execFileSync('umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}

function fillUp(filler: string): void {
  const file = openSync(filler, 'a');
  try {
    // Ever smaller pieces, until not even a byte fits.
    for (let size = BLOCK.length; size >= 1; size = Math.floor(size / 2)) writeWhileItFits(file, size);
  } finally {
    closeSync(file);
  }
}

function writeWhileItFits(file: number, size: number): void {
  try {
    for (;;) writeSync(file, BLOCK, 0, size);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
