import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { RunningConfig, SETTINGS } from '../../config/config';
import { codeOf } from '../../errors/error-code';
import { handleIdleErrors, replicaOf } from './pools';
import { ReaderPrisma } from './reader-prisma';
import { STATEMENT_TIMED_OUT, waitAtMost } from './timeouts';
import { adapterCauseOf } from './unavailable';

/** Time in which the replica must have everything that the primary had when the read began. */
const CATCH_UP_MS = 500;
const POLL_MS = 20;

/** Time limit of a replica's answer to a question that takes a millisecond. */
const ANSWER_MS = 1_000;

/** Interval of questions to a replica during a read, because a frozen one would let its readers wait. */
const WATCH_MS = 500;

/** Time on the primary after the replica was lost or late. */
const REST_MS = 5_000;

/**
 * SQL: the server and the position of everything visible on the primary. It was flushed, unless commits do
 * not wait for the flush.
 */
const PRIMARY_POSITION = `SELECT database_server() AS server,
  (CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END)::text AS lsn`;

/**
 * SQL: the state of the replica. A standby of another timeline may have passed the position without its data.
 * Each paying instance writes the server with its timeline every second, so a standby with the row is
 * current.
 */
const REPLICA_STATE = `SELECT CASE WHEN pg_is_in_recovery()
      THEN (SELECT system_identifier::text FROM pg_control_system()) = split_part($2, '/', 1)
        AND EXISTS (SELECT FROM instance WHERE server = $2)
      ELSE database_server() = $2 END AS "isSame",
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END
      >= $1::pg_lsn AS reached,
    coalesce((SELECT relpersistence = 'p' FROM pg_class
      WHERE oid = to_regclass('public.search_entry')), false) AS "hasIndex"`;

/** SQL: the lag of a standby in seconds. Null on a primary, and before anything was replayed. */
const LAG = `SELECT CASE WHEN pg_is_in_recovery()
  THEN extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 END AS lag`;

interface PrimaryPosition {
  server: string;
  lsn: string;
}

interface ReplicaState {
  isSame: boolean;
  reached: boolean;
  hasIndex: boolean;
}

interface ReadRequirements {
  /** Whether the read needs the search index. A replica has it only through the write-ahead log. */
  index?: boolean;
  /** Aborts once the caller of the read has left. */
  signal?: AbortSignal | undefined;
}

/**
 * Reads the history on a replica (DATABASE_REPLICA_URL), so that searches and exports leave the primary to
 * payments. A read begins there only once the replica has replayed every commit of the primary, so its answer
 * is the same. Otherwise, and whenever the replica fails, it reads the primary.
 */
@Injectable()
export class ReplicaService implements OnApplicationShutdown {
  private readonly logger = new Logger('Replica');
  private readonly replica: ReaderPrisma | undefined;
  /** A separate connection for questions, which never wait for a long read. */
  private readonly questions: Pool | undefined;
  private answering: Promise<boolean> | undefined;
  private restsUntil = 0;
  private isLost = false;
  /** The number of reads by server. */
  readonly reads = { primary: 0, replica: 0 };

  constructor(
    private readonly primary: ReaderPrisma,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    const options = replicaOf(settings);
    if (!options) return;
    this.replica = new ReaderPrisma(options);
    this.questions = handleIdleErrors(
      new Pool({
        ...options,
        max: 1,
        connectionTimeoutMillis: 2 * ANSWER_MS,
        query_timeout: ANSWER_MS,
        keepAlive: true,
      }),
    );
  }

  /**
   * Runs a read on the replica, or on the primary. Both have every earlier commit.
   * @param work may run a second time, on the primary.
   */
  async read<Result>(
    work: (reader: ReaderPrisma) => Promise<Result>,
    { index = false, signal }: ReadRequirements = {},
  ): Promise<Result> {
    const { replica } = this;
    if (replica && (await this.isCurrent(index))) {
      try {
        const result = await this.watched(work(replica));
        this.reads.replica += 1;
        this.logChange(undefined);
        return result;
      } catch (error) {
        const code = adapterCauseOf(error).originalCode ?? codeOf(error);
        if (signal?.aborted || code === STATEMENT_TIMED_OUT) throw error; // as it would on the primary
        this.giveUp((error as Error).message);
      }
    }
    this.reads.primary += 1;
    return work(this.primary);
  }

  /** Returns the seconds since the last replayed commit. Undefined without an answer of a replica. */
  async lag(): Promise<number | undefined> {
    const [row] = (await this.ask<{ lag: number | null }>(LAG, [])) ?? [];
    return row?.lag ?? undefined;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.replica?.end();
    await this.questions?.end();
  }

  /** Waits until the replica has everything that the primary has now. Never rejects. */
  private async isCurrent(index: boolean): Promise<boolean> {
    if (performance.now() < this.restsUntil) return false;
    const question = { text: PRIMARY_POSITION, values: [] };
    const answer = this.primary.readLong<PrimaryPosition>(question).catch(() => []);
    const [primary] = (await waitAtMost(answer, ANSWER_MS)) ?? [];
    if (!primary) return false;
    for (const ends = performance.now() + CATCH_UP_MS; ;) {
      const [state] = (await this.ask<ReplicaState>(REPLICA_STATE, [primary.lsn, primary.server])) ?? [];
      if (!state) return this.giveUp('it does not answer');
      if (!state.isSame) return this.giveUp('it follows another server, or another timeline');
      if (index && !state.hasIndex) return false;
      if (state.reached) return true;
      if (performance.now() > ends) return this.rest('it has not replayed what has committed');
      await sleep(POLL_MS);
    }
  }

  /** @throws Error if the replica stops answering meanwhile. */
  private async watched<Result>(reading: Promise<Result>): Promise<Result> {
    const over = new AbortController();
    const watching = async (): Promise<never> => {
      do await sleep(WATCH_MS, undefined, { signal: over.signal });
      while (await (this.answering ??= this.answers().finally(() => (this.answering = undefined))));
      throw new Error('it has stopped answering');
    };
    reading.catch(() => undefined); // without a caller once the replica has stopped answering
    const watch = watching();
    watch.catch(() => undefined); // the end of the read stops it
    try {
      return await Promise.race([reading, watch]);
    } finally {
      over.abort();
    }
  }

  private async answers(): Promise<boolean> {
    return (await this.ask('SELECT', [])) !== undefined;
  }

  /** @returns undefined if the replica does not answer in time. */
  private async ask<Row extends object>(text: string, values: unknown[]): Promise<Row[] | undefined> {
    if (!this.questions) return undefined;
    const answer = this.questions.query<Row>(text, values).then(
      ({ rows }) => rows,
      () => undefined,
    );
    return waitAtMost(answer, 2 * ANSWER_MS);
  }

  private giveUp(reason: string): false {
    this.replica?.giveUpConnections();
    return this.rest(reason);
  }

  private rest(reason: string): false {
    this.restsUntil = performance.now() + REST_MS;
    this.logChange(reason);
    return false;
  }

  /** Logs the loss and the return of the replica, once each. */
  private logChange(reason: string | undefined): void {
    if ((reason !== undefined) === this.isLost) return;
    this.isLost = reason !== undefined;
    if (reason !== undefined) this.logger.warn({ reason }, 'the history is read from the primary');
    else this.logger.log('the history is read from the replica again');
  }
}
