/**
 * Writes the commit of the build to dist/build.json. Git may be missing where the build runs, and then COMMIT
 * names it.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * @returns the commit, with `-dirty` if tracked files differ from it. Undefined without git or outside a
 * repository.
 */
function commitOfGit() {
  const args = ['describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'];
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

const commit = process.env.COMMIT || commitOfGit() || 'unknown';
mkdirSync(join(ROOT, 'dist'), { recursive: true });
writeFileSync(join(ROOT, 'dist', 'build.json'), `${JSON.stringify({ commit })}\n`);
