import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { IDLE_CONNECTION } from './idle-connection';

/** The wait before a lost connection is made again. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

/** Whoever relies on notifications should learn soon that they have stopped. */
const KEEP_ALIVE_DELAY_MS = 5_000;

/** Listens to a channel of the database (LISTEN), on a connection of its own. */
export class Notifications {
  private readonly stopped = new AbortController();
  private connection: Client | undefined;
  private readonly running: Promise<void>;

  /**
   * @param channel one of our own names.
   * @param heard runs for each notification, and whenever listening begins or ends, because some may have been missed.
   */
  constructor(
    private readonly url: string,
    private readonly channel: string,
    private readonly heard: () => void,
  ) {
    this.running = this.run();
  }

  /** Whether notifications arrive. If not, everything may have changed. */
  get isListening(): boolean {
    return this.connection !== undefined;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.connection?.end();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    let wait = FIRST_WAIT_MS;
    while (!signal.aborted) {
      try {
        await this.listen();
        wait = FIRST_WAIT_MS;
      } catch {
        wait = Math.min(2 * wait, LONGEST_WAIT_MS);
      }
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined); // the end wakes it
    }
  }

  /** Resolves when the connection ends. */
  private async listen(): Promise<void> {
    const client = new Client({
      connectionString: this.url,
      ...IDLE_CONNECTION,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    });
    client.on('error', () => undefined); // the end of the connection reports it too
    client.on('notification', this.heard);
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    await client.connect();
    try {
      await client.query(`LISTEN ${this.channel}`);
    } catch (error) {
      await client.end();
      throw error;
    }
    this.heard();
    if (this.stopped.signal.aborted) return client.end();
    this.connection = client;
    await ended;
    this.connection = undefined;
    this.heard();
  }
}
