import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../config/config';
import { alreadyUsed, Holder, readHolder, removeHolder, thisProcess, writeHolder } from './holder';
import { makeDataDir } from './home';

/** Maximum wait for a command or a stopping proxy to release the directory, in ms. */
const TIMEOUT_MS = 2_000;

const ASK_AGAIN_MS = 100;

/** Maximum wait for a new holder to identify itself, in ms. */
const HOLDER_TIMEOUT_MS = 1_000;

/**
 * A lock of a directory that ends with its process, however the process ends. It needs only the directory, so
 * it works before there is a database, and between containers with their own process IDs.
 *
 * The lock is a Unix socket on which its holder listens. The sockets are numbered, and the highest number
 * counts. A process that finds no listener makes the next number with a hard link, which only one of several
 * processes can make. A file with the number names the holder, so that the file of an earlier holder does not
 * count. The highest socket is never removed. Otherwise, a process that looked earlier could make the same
 * number again.
 */
export class DirectoryLock {
  private constructor(
    private readonly server: Server,
    private readonly file: string,
    private holder: Holder,
  ) {}

  /**
   * @param timeoutMs how long to retry while another process holds it.
   * @param embeddedPostgres whether this process is going to run the embedded Postgres.
   * @returns undefined if another process holds it.
   */
  static async take(
    directory: string,
    timeoutMs: number,
    embeddedPostgres: boolean,
  ): Promise<DirectoryLock | undefined> {
    const locks = locksOf(directory);
    mkdirSync(locks, { recursive: true, mode: 0o755 });
    const handle = openSync(locks, 'r');
    try {
      // A socket path has about a hundred characters at most. On Linux, this one is always short.
      const place = process.platform === 'linux' ? `/proc/self/fd/${handle}` : locks;
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const taken = await takeNext(locks, place);
        if (taken) {
          const lock = new DirectoryLock(
            taken.server,
            holderFile(locks, taken.number),
            thisProcess(embeddedPostgres),
          );
          writeHolder(lock.file, lock.holder);
          return lock;
        }
        if (performance.now() > deadline) return undefined;
        await sleep(ASK_AGAIN_MS);
      }
    } finally {
      closeSync(handle);
    }
  }

  /** Returns the holder of a directory's lock, after `take` has failed. */
  static async holderOf(directory: string): Promise<Holder | undefined> {
    const locks = locksOf(directory);
    const deadline = performance.now() + HOLDER_TIMEOUT_MS;
    for (;;) {
      const holder = readHolder(holderFile(locks, numbersIn(locks).at(-1) ?? 0));
      if (holder || performance.now() > deadline) return holder;
      await sleep(ASK_AGAIN_MS);
    }
  }

  /** Publishes the address of this process. */
  serves(url: string): void {
    this.holder = { ...this.holder, url };
    writeHolder(this.file, this.holder);
  }

  async release(): Promise<void> {
    removeHolder(this.file);
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/**
 * Takes the lock of `dataDir`, before anything in it is touched.
 * @throws StartError that says who holds it.
 */
export async function lockDataDir(dataDir: string, embeddedPostgres: boolean): Promise<DirectoryLock> {
  makeDataDir(dataDir);
  const lock = await DirectoryLock.take(dataDir, TIMEOUT_MS, embeddedPostgres);
  if (lock) return lock;
  throw alreadyUsed(dataDir, await DirectoryLock.holderOf(dataDir));
}

function locksOf(directory: string): string {
  return join(directory, 'lock');
}

function holderFile(locks: string, number: number): string {
  return join(locks, `${number}.json`);
}

async function takeNext(
  locks: string,
  place: string,
): Promise<{ server: Server; number: number } | undefined> {
  const highest = numbersIn(locks).at(-1) ?? 0;
  if (highest > 0 && (await isHeld(join(place, String(highest))))) return undefined;
  const name = randomUUID();
  const server = await listen(join(place, name));
  try {
    // only once it listens, so that no process finds it silent
    linkSync(join(locks, name), join(locks, String(highest + 1)));
    for (const number of numbersIn(locks)) {
      if (number > highest) continue;
      removeHolder(holderFile(locks, number));
      rmSync(join(locks, String(number)), { force: true });
    }
    return { server, number: highest + 1 };
  } catch (error) {
    server.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw cannotLock(code); // not every file system has hard links
    return undefined; // another process was faster
  } finally {
    rmSync(join(locks, name), { force: true });
  }
}

function numbersIn(locks: string): number[] {
  const numbers = readdirSync(locks).filter((name) => /^\d{1,15}$/.test(name));
  return numbers.map(Number).sort((a, b) => a - b);
}

/** Returns whether a process listens. Only an abandoned socket refuses connections. */
function isHeld(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const answer = (held: boolean) => {
      socket.destroy();
      resolve(held);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => answer(code !== 'ECONNREFUSED'));
  });
}

function cannotLock(code: string | undefined): StartError {
  return new StartError(`DATA_DIR cannot be locked (${code}). Set DATA_DIR to a folder on a local disk.`);
}

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).unref();
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => reject(cannotLock(code)));
    server.listen(path, () => resolve(server));
  });
}
