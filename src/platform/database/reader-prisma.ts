import { PrismaPg } from '@prisma/adapter-pg';
import { finished } from 'node:stream/promises';
import { Pool, PoolConfig, QueryConfig } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Prisma, PrismaClient } from './generated/client';
import { connectionOf, DatabaseSettings, hearErrors, nameOf, QUERY_TIMEOUT_MS } from './pools';

/** Connections for what reads the history, or writes many rows at once. They are opened when they are needed. */
export const READERS = 4;

/** How long a reader waits for a connection of its pool: others may read long. */
const READER_WAIT_MS = 10_000;

/** Searches wait for each other where the search index has much to catch up with. */
const READER_LOCK_TIMEOUT_MS = 5_000;

/** Prisma.sql makes some, too. */
interface Question {
  text: string;
  values: unknown[];
}

/**
 * What reads the history, on connections of its own: however many readers there are and however long they take, the payouts'
 * connections (PrismaService) stay free. It reads only; records are written by the journal.
 */
export class ReaderPrisma {
  private readonly pool: ReaderPool;
  private lazy: PrismaClient | undefined;

  constructor(settings: DatabaseSettings) {
    this.pool = hearErrors(
      new ReaderPool({
        ...connectionOf(settings),
        connectionTimeoutMillis: READER_WAIT_MS,
        lock_timeout: READER_LOCK_TIMEOUT_MS,
        max: READERS,
        keepAlive: true,
        idleTimeoutMillis: 0,
      }),
    );
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
  get findingSight() {
    return this.prisma.findingSight;
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
  get intentItem() {
    return this.prisma.intentItem;
  }
  get itemRecipient() {
    return this.prisma.itemRecipient;
  }
  get outcomeBody() {
    return this.prisma.outcomeBody;
  }
  get pruning() {
    return this.prisma.pruning;
  }
  get reconciliationRun() {
    return this.prisma.reconciliationRun;
  }
  get refusal() {
    return this.prisma.refusal;
  }
  get stop() {
    return this.prisma.stop;
  }

  $queryRaw<Rows>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<Rows> {
    return this.prisma.$queryRaw<Rows>(query, ...values);
  }

  $queryRawUnsafe<Rows>(query: string, ...values: unknown[]): Promise<Rows> {
    return this.prisma.$queryRawUnsafe<Rows>(query, ...values);
  }

  /**
   * For long readings of many rows, past Prisma: in memory that does not grow with them.
   * @param question its `text` has $1, $2 … for its `values`.
   */
  async readLong<Row extends object>({ text, values }: Question): Promise<Row[]> {
    return this.pool.long<Row>(text, values);
  }

  /** See PrismaService. */
  async copyIn(statement: string, lines: Buffer): Promise<void> {
    const connection = await this.pool.connect();
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

  async end(): Promise<void> {
    await this.lazy?.$disconnect();
    await this.pool.end();
  }

  /** Made when somebody reads: it takes ten megabytes, which a proxy at rest does not need. */
  private get prisma(): PrismaClient {
    return (this.lazy ??= new PrismaClient({ adapter: new PrismaPg(this.pool, { statementNameGenerator: nameOf }) }));
  }
}

/** Prisma's questions have a timer each, in case the server is gone. Long readings have none. */
class ReaderPool extends Pool {
  private readonly withoutTimer = super.query.bind(this);

  constructor(config: PoolConfig) {
    super(config);
    const { withoutTimer } = this;
    this.query = ((question: QueryConfig) =>
      withoutTimer({ ...question, query_timeout: QUERY_TIMEOUT_MS } as QueryConfig)) as Pool['query'];
  }

  /**
   * With a timer for each question, one result keeps the next from being cleared away soon, and the process grows by hundreds of
   * megabytes.
   */
  async long<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    return (await this.withoutTimer<Row>(text, values)).rows;
  }
}
