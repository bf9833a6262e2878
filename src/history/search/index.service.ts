import { Injectable, Logger, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';

/** Short turns leave little to index when a search begins. */
const TURN_MS = 1_000;

/** After a busy turn, the next one comes sooner. Long turns would take too much CPU time from payouts. */
const BUSY_TURN_MS = 250;
const MUCH_MS = 20;

/** Records per statement, or fewer if they have many payouts. A statement takes some tenths of a second. */
const BATCH = 5_000;

/** How long a search waits for the index. Less than the statement timeout, and less than callers wait. */
const PATIENCE_MS = 8_000;

/** Keeps the search index (index_calls of the migrations) up to date. */
@Injectable()
export class IndexService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('SearchIndex');
  private readonly stopped = new AbortController();
  private running: Promise<void> | undefined;

  constructor(private readonly prisma: ReaderPrisma) {}

  onModuleInit(): void {
    this.running = this.run();
  }

  /**
   * Indexes everything that has committed, so that a search finds it.
   * @throws Problem if that takes longer than a search can wait.
   */
  async catchUp(): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (await this.runOnce()) {
      if (Date.now() > deadline) {
        const text = 'The search index is still catching up with the records. Search again in a minute.';
        throw new Problem('database_unavailable', { text, retryAfter: 60 });
      }
    }
  }

  /** @returns whether there may be more to index. */
  async runOnce(): Promise<boolean> {
    const [row] = await this.prisma.readLong<{ more: boolean }>({
      text: 'SELECT index_calls($1::integer) AS more',
      values: [BATCH],
    });
    return row?.more ?? false;
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    let failing = false;
    while (!signal.aborted) {
      const started = performance.now();
      try {
        const more = await this.runOnce();
        failing = false;
        if (more) continue;
      } catch (err) {
        // Logged once. A search that needs the index reports the error itself.
        if (!failing && !signal.aborted) this.logger.warn({ err }, 'search index update failed, will retry');
        failing = true;
      }
      const rest = performance.now() - started > MUCH_MS ? BUSY_TURN_MS : TURN_MS;
      await sleep(rest, undefined, { signal, ref: false }).catch(() => undefined); // the end of the process wakes it
    }
  }
}
