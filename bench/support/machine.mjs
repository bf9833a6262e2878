/** Describes the machine and the version of a measurement. */
import { execFileSync } from 'node:child_process';
import { cpus, platform, release, totalmem } from 'node:os';

export function machine() {
  return {
    at: new Date().toISOString(),
    commit: commit(),
    cores: cpus().length,
    cpu: cpus()[0]?.model,
    memoryGb: Math.round(totalmem() / 1e9),
    system: `${platform()} ${release()}`,
    node: process.version,
  };
}

/** Returns the commit, with `+` after changes. Null outside a checkout. */
function commit() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  try {
    return (
      git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? '+' : '')
    );
  } catch {
    return null;
  }
}
