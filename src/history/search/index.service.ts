import { Injectable, Logger } from '@nestjs/common';
import { FastifyInstance } from 'fastify';
import { MetricsService } from '../../http/metrics/metrics.service';
import { indexAll, indexBatch, IndexState, MOST_RECORDS } from '../../journal/lookups/search-index';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { STATEMENT_TIMED_OUT } from '../../platform/database/pools/timeouts';
import { causeOf } from '../../platform/database/pools/unavailable';
import { codeOf } from '../../platform/errors/error-code';
import { Problem } from '../../platform/errors/problem';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { Cause } from '../../platform/storage/failures';

/** Maximum wait of a search for the index, in ms. Below the statement timeout and those of callers. */
const CATCH_UP_MS = 8_000;

/** Failures of a database that still answers reads. */
const NO_WRITES: (Cause | undefined)[] = ['disk_full', 'read_only'];

/** Statement that builds the indexes. With many calls it takes minutes. */
const BUILD = 'SET LOCAL statement_timeout = 0; SELECT build_search_indexes()';

/**
 * Updates the search index (index_calls of the migrations). After a crash of Postgres and on a promoted
 * standby, the index is empty and is rebuilt from the records.
 */
@Injectable()
export class IndexService {
  /** Built share of the index, from 0 to 1. */
  progress = 1;
  /** Whether searches may miss the newest records, because the database takes no writes. */
  isBehind = false;
  /** Most records of the next batch. Fewer after a batch that timed out, or it would time out for ever. */
  private records = MOST_RECORDS;

  constructor(private readonly prisma: ReaderPrisma) {}

  /**
   * Indexes everything that has committed, before a search. If the database rejects writes, a search uses the
   * indexed part, and `isBehind` is true.
   * @throws Problem if that takes longer than a search can wait.
   */
  async catchUp(): Promise<void> {
    const left = await indexAll(() => this.runOnce(), CATCH_UP_MS).catch((error: unknown) => {
      if (!NO_WRITES.includes(causeOf(error))) throw error;
      this.isBehind = true;
    });
    if (!left) return;
    const { state, progress } = left;
    this.isBehind = state !== 'done';
    if (state === 'done') return;
    const rebuilt = progress < 1 ? ` It is being rebuilt and ${Math.floor(progress * 100)} % complete.` : '';
    const text = `The search index lacks the newest records.${rebuilt} Search again in a minute.`;
    throw new Problem('database_unavailable', { text, retryAfter: 60 });
  }

  /** Indexes one batch. */
  async runOnce(): Promise<IndexState> {
    try {
      const ask = (text: string, values: unknown[]) => this.prisma.readLong<IndexState>({ text, values });
      const left = await indexBatch(ask, { records: this.records });
      this.records = Math.min(2 * this.records, MOST_RECORDS);
      this.progress = left.progress;
      return left;
    } catch (error) {
      if (codeOf(error) === STATEMENT_TIMED_OUT) this.records = Math.ceil(this.records / 2);
      throw error;
    }
  }

  /** Builds the database indexes, after all entries were rebuilt. */
  async build(): Promise<void> {
    await this.prisma.readLong({ text: BUILD, values: [] });
  }
}

/** Header of responses while the index is behind. */
const INDEX_BEHIND = 'x-index-behind';

/** Adds the header to every response while searches may miss the newest records. */
export function addIndexHeader(server: FastifyInstance, index: IndexService): void {
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (index.isBehind) void reply.header(INDEX_BEHIND, 'true');
    done();
  });
}

/** Interval between turns in ms, short enough to leave little work for a search. */
const TURN_MS = 1_000;

/**
 * Interval after a turn of at least LONG_MS, in ms. A turn of a hundred calls takes some 15 ms, and up to 40
 * ms on busy cores. Half of it is planning, so shorter turns would only cost more.
 */
const SHORT_TURN_MS = 250;
const LONG_MS = 60;

/** Keeps the search index up to date and rebuilds it. */
@Injectable()
export class IndexJob implements Job {
  readonly name = 'index';
  private readonly logger = new Logger('SearchIndex');

  constructor(
    private readonly index: IndexService,
    metrics: MetricsService,
  ) {
    metrics.watch(
      'payout_proxy_search_index_progress',
      'Built share of the search index. Below 1, it is being rebuilt after a crash or a failover, and ' +
        'searches get 503.',
      () => index.progress,
    );
  }

  async run(turns: Turns): Promise<void> {
    let failing = false;
    while (!turns.areOver) {
      const started = performance.now();
      try {
        const { state } = await this.index.runOnce();
        if (state === 'unbuilt') await this.index.build();
        failing = false;
        if (state !== 'done') continue;
      } catch (err) {
        // Logged once. A search that needs the index reports the error itself.
        if (!failing && !turns.areOver) this.logger.warn({ err }, 'search index update failed, will retry');
        failing = true;
      }
      await turns.wait(performance.now() - started > LONG_MS ? SHORT_TURN_MS : TURN_MS);
    }
  }
}
