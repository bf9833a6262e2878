import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { ServerClient } from '../servers/server-client';
import { IDLE_CONNECTION } from './pools';

/** One number or two numbers of `LOCKS`. */
type LockKey = number | [space: number, number: number];

/** Listeners of a lock's holder. */
interface LockListeners {
  ofLoss?: () => void;
  /** Called when the lock returns. The database may be an older one. */
  ofReturn?: () => void;
}

/** First wait before taking a lost lock again, in ms. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

/**
 * A database lock that lasts as long as a connection, so that it ends with its process. A lost lock is taken
 * again as soon as possible. Until then, another process may take it.
 */
export class SessionLock {
  private readonly released = new AbortController();
  private connection: Client | undefined;
  private retaking: Promise<void> | undefined;

  private constructor(
    private readonly url: string,
    private readonly key: LockKey,
    private readonly listeners: LockListeners,
  ) {}

  /** @returns undefined if another process holds it. */
  static async take(url: string, key: LockKey, told: LockListeners = {}): Promise<SessionLock | undefined> {
    const lock = new SessionLock(url, key, told);
    return (await lock.take()) ? lock : undefined;
  }

  /** @returns whether it was held until now. */
  async release(): Promise<boolean> {
    this.released.abort();
    await this.retaking;
    const held = this.connection !== undefined;
    await this.connection?.end();
    return held;
  }

  /** Takes the lock again on a new connection, because the address may lead to another server. */
  renew(): void {
    void this.connection?.end(); // its end does the rest
  }

  private async take(): Promise<boolean> {
    const connection = await connectAndLock(this.url, this.key);
    if (!connection) return false;
    this.connection = connection;
    connection.once('end', () => {
      this.connection = undefined;
      if (!this.released.signal.aborted) this.retaking = this.takeAgain();
    });
    return true;
  }

  /** Takes the lock again. The server may learn later than this process that the old connection is gone. */
  private async takeAgain(): Promise<void> {
    this.listeners.ofLoss?.();
    const { signal } = this.released;
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      if (await this.take().catch(() => false)) return this.listeners.ofReturn?.();
      await sleep(wait, undefined, { signal }).catch(() => undefined); // the release wakes it
    }
  }
}

async function connectAndLock(url: string, key: LockKey): Promise<Client | undefined> {
  const client = new ServerClient({ connectionString: url, ...IDLE_CONNECTION });
  await client.connect();
  const [parameters, values] = typeof key === 'number' ? ['$1', [key]] : ['$1, $2', key];
  try {
    const { rows } = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock(${parameters}) AS taken`,
      values,
    );
    if (rows[0]?.taken) return client;
  } catch (error) {
    await client.end();
    throw error;
  }
  await client.end();
  return undefined;
}
