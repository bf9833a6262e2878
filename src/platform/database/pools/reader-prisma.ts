import { finished } from 'node:stream/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, PoolConfig, Client, QueryConfig } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Prisma, PrismaClient } from '../generated/client';
import {
  connectionsOf,
  ERROR_FORMAT,
  handleIdleErrors,
  nameOf,
  QUERY_TIMEOUT_MS,
  withOptions,
} from './pools';

/** Number of connections for reading the history and writing many rows. They are opened on demand. */
export const READERS = 4;

/** Time limit of a reader for a connection of its pool. Other reads may take long. */
const READER_WAIT_MS = 10_000;

/** Lock timeout of a reader. Searches wait for each other while the search index catches up. */
const READER_LOCK_TIMEOUT_MS = 5_000;

/** Option that ends a statement within half a second after its connection closes. */
const READER_OPTIONS = '-c client_connection_check_interval=500';

/** A query as `Prisma.sql` creates it. */
interface SqlQuery {
  text: string;
  values: unknown[];
}

/**
 * Reads the history on separate connections, so that readers never occupy those of payouts (PrismaService).
 * The journal writes records.
 */
export class ReaderPrisma {
  private readonly pool: Pool;
  /** Gives up every connection, for example those to a replaced server. */
  readonly giveUpConnections: () => void;
  private lazy: PrismaClient | undefined;

  /** @param options of its connections. */
  constructor(options: PoolConfig) {
    this.pool = handleIdleErrors(
      new Pool({
        ...withOptions(options, READER_OPTIONS),
        connectionTimeoutMillis: READER_WAIT_MS,
        lock_timeout: READER_LOCK_TIMEOUT_MS,
        query_timeout: QUERY_TIMEOUT_MS,
        max: READERS,
        keepAlive: true,
        idleTimeoutMillis: 0,
      }),
    );
    const giveUp = connectionsOf(this.pool);
    this.giveUpConnections = () => giveUp(() => true);
  }

  get access() {
    return this.prisma.access;
  }
  get accessFilters() {
    return this.prisma.accessFilters;
  }
  get answerShape() {
    return this.prisma.answerShape;
  }
  get checkpoint() {
    return this.prisma.checkpoint;
  }
  get client() {
    return this.prisma.client;
  }
  get findingStep() {
    return this.prisma.findingStep;
  }
  get intent() {
    return this.prisma.intent;
  }
  get intentBody() {
    return this.prisma.intentBody;
  }
  get outcomeBody() {
    return this.prisma.outcomeBody;
  }
  get pruning() {
    return this.prisma.pruning;
  }
  get refusal() {
    return this.prisma.refusal;
  }
  get refusalKey() {
    return this.prisma.refusalKey;
  }
  get person() {
    return this.prisma.person;
  }
  get stop() {
    return this.prisma.stop;
  }
  get unheardStatus() {
    return this.prisma.unheardStatus;
  }

  $queryRaw<Rows>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<Rows> {
    return this.prisma.$queryRaw<Rows>(query, ...values);
  }

  $queryRawUnsafe<Rows>(query: string, ...values: unknown[]): Promise<Rows> {
    return this.prisma.$queryRawUnsafe<Rows>(query, ...values);
  }

  /**
   * Reads many rows without Prisma, in constant memory.
   * @param question its `text` has $1, $2 … for its `values`.
   * @param signal cancels the statement, and gives up its connection.
   * @throws the reason of the signal.
   */
  async readLong<Row extends object>({ text, values }: SqlQuery, signal?: AbortSignal): Promise<Row[]> {
    if (signal) return askUntil<Row>(this.pool, { text, values }, signal);
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** Writes many rows. See PrismaService. */
  async copyIn(statement: string, lines: Buffer): Promise<void> {
    const connection = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await finished(connection.query(copyFrom(statement)).end(lines));
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      connection.release(failure); // a failed connection may be in the middle of the COPY
    }
  }

  async end(): Promise<void> {
    await this.lazy?.$disconnect();
    await this.pool.end();
  }

  /** Prisma's client, created on the first read, because it takes ten megabytes. */
  private get prisma(): PrismaClient {
    return (this.lazy ??= new PrismaClient({
      adapter: new PrismaPg(this.pool, { statementNameGenerator: nameOf }),
      errorFormat: ERROR_FORMAT,
    }));
  }
}

/**
 * Runs a statement on a connection of a pool until a signal aborts. The connection is then closed, and the
 * server ends the statement (client_connection_check_interval).
 * @throws the reason of the signal.
 */
async function askUntil<Row extends object>(
  pool: Pool,
  question: QueryConfig,
  signal: AbortSignal,
): Promise<Row[]> {
  signal.throwIfAborted();
  const connection = await pool.connect();
  // The end of a client that waits for an answer closes its socket.
  const cancel = () => void (connection as unknown as Client).end();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    return (await connection.query<Row>(question)).rows;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    connection.release(signal.aborted);
  }
}
