import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../config/config';

const ASK_AGAIN_MS = 100;

/**
 * A lock of a directory that ends with its process, however the process ends. It needs only the directory, so it works
 * before there is a database, and between containers with their own process IDs.
 *
 * The lock is a Unix socket on which its holder listens. The sockets are numbered, and the highest number counts. A
 * process that finds nobody listening makes the next number with a hard link, which only one of several processes can
 * make. Nobody removes the highest socket, not even its holder. Otherwise, a process that looked earlier could make the
 * same number again.
 */
export class DirectoryLock {
  private constructor(private readonly server: Server) {}

  /**
   * @param patienceMs how long to retry while another process holds it.
   * @returns undefined if another process holds it.
   */
  static async take(directory: string, patienceMs: number): Promise<DirectoryLock | undefined> {
    const locks = join(directory, 'lock');
    mkdirSync(locks, { recursive: true, mode: 0o755 });
    const handle = openSync(locks, 'r');
    try {
      // A socket path has about a hundred characters at most. On Linux, this one is short wherever the directory is.
      const place = process.platform === 'linux' ? `/proc/self/fd/${handle}` : locks;
      const patienceEnds = performance.now() + patienceMs;
      for (;;) {
        const server = await takeNext(locks, place);
        if (server) return new DirectoryLock(server);
        if (performance.now() > patienceEnds) return undefined;
        await sleep(ASK_AGAIN_MS);
      }
    } finally {
      closeSync(handle);
    }
  }

  async release(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
  }
}

async function takeNext(locks: string, place: string): Promise<Server | undefined> {
  const highest = numbersIn(locks).at(-1) ?? 0;
  if (highest > 0 && (await isHeld(join(place, String(highest))))) return undefined;
  const name = randomUUID();
  const server = await listen(join(place, name));
  try {
    linkSync(join(locks, name), join(locks, String(highest + 1))); // only once it listens, so that nobody finds it silent
    for (const number of numbersIn(locks)) if (number <= highest) rmSync(join(locks, String(number)), { force: true });
    return server;
  } catch {
    server.close();
    return undefined; // another process was faster
  } finally {
    rmSync(join(locks, name), { force: true });
  }
}

function numbersIn(locks: string): number[] {
  const numbers = readdirSync(locks).filter((name) => /^\d{1,15}$/.test(name));
  return numbers.map(Number).sort((a, b) => a - b);
}

/**
 * Returns whether a process listens. Only an abandoned socket refuses connections: not one of a stopped process or
 * another user.
 */
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

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).unref();
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new StartError(`DATA_DIR cannot be locked (${code}). Set DATA_DIR to a folder on a local disk.`)),
    );
    server.listen(path, () => resolve(server));
  });
}
