/** Writes the commit of the build to dist/build.json. COMMIT names it where git is missing. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** @returns the commit, with `-dirty` after changes of tracked files. Undefined outside a git repository. */
function commitOfGit() {
  const args = ['describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'];
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

const commit = process.env.COMMIT || commitOfGit() || 'unknown';
mkdirSync(join(ROOT, 'dist'), { recursive: true });
writeFileSync(join(ROOT, 'dist', 'build.json'), `${JSON.stringify({ commit })}\n`);
