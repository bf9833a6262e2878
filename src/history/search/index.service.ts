import { Injectable, Logger, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { MetricsService } from '../../http/metrics/metrics.service';
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

/** The indexes of many calls take minutes to build. */
const BUILD = 'SET LOCAL statement_timeout = 0; SELECT build_search_indexes()';

/** What index_calls() returns. `unbuilt` means that build_search_indexes() must follow. */
type State = 'done' | 'more' | 'unbuilt';

/**
 * Keeps the search index (index_calls of the migrations) up to date. After a crash of Postgres and on a promoted
 * standby, the index is empty, and is made anew from the records.
 */
@Injectable()
export class IndexService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('SearchIndex');
  private readonly stopped = new AbortController();
  private running: Promise<void> | undefined;
  /** How much of the index is there, from 0 to 1. */
  private progress = 1;

  constructor(
    private readonly prisma: ReaderPrisma,
    metrics: MetricsService,
  ) {
    metrics.watchSearchIndex(() => this.progress);
  }

  onModuleInit(): void {
    this.running = this.run();
  }

  /**
   * Indexes everything that has committed, so that a search finds it.
   * @throws Problem if that takes longer than a search can wait.
   */
  async catchUp(): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    for (let state = await this.runOnce(); state !== 'done'; state = await this.runOnce()) {
      if (state === 'more' && Date.now() <= deadline) continue;
      const rebuilt =
        this.progress < 1 ? ` It is being rebuilt and ${Math.floor(this.progress * 100)} % complete.` : '';
      const text = `The search index is still catching up with the records.${rebuilt} Search again in a minute.`;
      throw new Problem('database_unavailable', { text, retryAfter: 60 });
    }
  }

  async runOnce(): Promise<State> {
    const [row] = await this.prisma.readLong<{ state: State; progress: number }>({
      text: 'SELECT index_calls($1::integer) AS state, search_progress() AS progress',
      values: [BATCH],
    });
    this.progress = row?.progress ?? 1;
    return row?.state ?? 'done';
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
        const state = await this.runOnce();
        if (state === 'unbuilt') await this.prisma.readLong({ text: BUILD, values: [] });
        failing = false;
        if (state !== 'done') continue;
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
