import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { PrismaPg } from '@prisma/adapter-pg';
import { finished } from 'node:stream/promises';
import { Pool, PoolConfig } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { StartError } from '../config/config';
import { Loaded } from '../config/config.module';
import { PrismaClient } from './generated/client';
import { cannotReach } from './reach';

export interface DatabaseSettings {
  databaseUrl: string;
  databaseOwnerUrl: string;
  databasePoolSize: number;
}

/** Prisma.sql makes some, too. */
interface Question {
  text: string;
  values: unknown[];
}

/** Connections for what reads the whole history, or writes many rows; they are opened when they are needed. */
const READERS = 4;

/**
 * Connections that stay open when nothing is asked: for keys, admissions, outcomes and what goes on in the background. New ones log
 * in, read the catalog and plan, all of them at the beginning of a burst: after 12 seconds without calls, the first second then
 * served a quarter fewer, at half as much CPU again.
 */
const KEPT_OPEN = 4;

/** How many months of partitions stand ready. */
const PARTITION_MONTHS_AHEAD = 3;
/** The longest statement is a search over a long history; the journal's take some milliseconds. */
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * A row that somebody keeps locked must not hold back the payouts of others for long: a batch that met it is tried again, call by
 * call, while their apps still wait (DATABASE_PATIENCE_MS).
 */
const LOCK_TIMEOUT_MS = 1_000;
/** A process that is frozen within a transaction lets go of its locks before others give up waiting for them. */
const IDLE_IN_TRANSACTION_MS = 3_000;

const PARTITION_CHECK_MS = 24 * 3_600_000;

/**
 * The connection every module reads and writes through, as a role that may add records but not change them.
 * With one URL for both, which is the owner's, each connection steps down to that role; with two, DATABASE_URL is a
 * login of its own that was granted `payout_proxy`.
 */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown {
  private readonly url: string;
  /** Prisma's own. */
  private readonly pool: Pool;
  private readonly readers: Pool;
  private partitionTimer: NodeJS.Timeout | undefined;

  constructor(config: ConfigService<Loaded, true>) {
    const settings: DatabaseSettings = config.get('settings', { infer: true });
    const ownsTables = settings.databaseUrl === settings.databaseOwnerUrl;
    const connection: PoolConfig = {
      connectionString: settings.databaseUrl,
      connectionTimeoutMillis: 5_000,
      // A lock or a dead connection must not hold payouts back until long after their apps have given up.
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      ...(ownsTables && { options: '-c role=payout_proxy' }),
    };
    const pool = poolOf({
      ...connection,
      max: settings.databasePoolSize,
      min: KEPT_OPEN,
      query_timeout: STATEMENT_TIMEOUT_MS + 1_000, // where the server does not even say so
    });
    super({ adapter: new PrismaPg(pool, { disposeExternalPool: true, statementNameGenerator: nameOf }) });
    this.url = settings.databaseUrl;
    this.pool = pool;
    // Without the pool's timers, one for each question: by them one result keeps the next from being cleared away soon, and the
    // process grows by hundreds of megabytes.
    this.readers = poolOf({ ...connection, max: READERS, keepAlive: true, idleTimeoutMillis: 0 });
  }

  /**
   * For the statements of every request: past Prisma's client, which takes longer over one of them than Postgres does, on the
   * connections that it uses. Each plans it once.
   * @param name of the statement, and of no other text.
   * @param text has $1, $2 … for `values`; a Buffer is sent as it is, in the binary format of its type.
   * @throws what pg throws; see isUnavailable.
   */
  async prepared<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.pool.query<Row>({ name, text, values })).rows;
  }

  /**
   * For long readings of many rows, past Prisma and the connections of the payouts: in memory that does not grow with them.
   * @param question its `text` has $1, $2 … for its `values`.
   */
  async readLong<Row extends object>({ text, values }: Question): Promise<Row[]> {
    return (await this.readers.query<Row>(text, values)).rows;
  }

  /**
   * For many new rows, past Prisma and the connections of the payouts.
   * @param statement a COPY … FROM STDIN.
   * @param lines in its text format, see `copyLine`.
   */
  async copyIn(statement: string, lines: Buffer): Promise<void> {
    const connection = await this.readers.connect();
    let failure: Error | undefined;
    try {
      await finished(connection.query(copyFrom(statement)).end(lines));
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      connection.release(failure); // one that failed may be in the middle of it
    }
  }

  /** Connects and makes the partitions of the months to come, now and every day. */
  async start(): Promise<void> {
    try {
      await this.makePartitions();
    } catch (error) {
      throw error instanceof StartError ? error : cannotReach(this.url, error);
    }
    this.partitionTimer = setInterval(() => {
      // Months ahead remain, and the default partitions below them: tomorrow is early enough.
      this.makePartitions().catch(() => new Logger('Partitions').warn('the next months could not be prepared'));
    }, PARTITION_CHECK_MS);
    this.partitionTimer.unref();
  }

  private async makePartitions(): Promise<void> {
    await this.$queryRaw`SELECT make_partitions(${PARTITION_MONTHS_AHEAD}::integer)::text`;
  }

  /** Once the last request in flight is answered. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.partitionTimer);
    await this.readers.end();
    await this.$disconnect();
  }
}

/** A statement's name, if it says one: `-- prepared as find_key`. */
const PREPARED = /^\s*-- prepared as (\w+)\n/;

/** Each connection plans a statement with a name once: planning is most of what the small ones of every request cost. */
function nameOf({ sql }: { sql: string }): string {
  return PREPARED.exec(sql)?.[1] ?? '';
}

function poolOf(config: PoolConfig): Pool {
  const pool = new Pool(config);
  // A connection that ends while nobody uses it, or right after it began, has an error that nobody else hears, and that would
  // end us all. Whoever uses the connection gets an error of its own.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
