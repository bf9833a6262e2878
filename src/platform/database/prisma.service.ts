import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { StartError } from '../config/config';
import { Loaded } from '../config/config.module';
import { PrismaClient } from './generated/client';
import { connectionOf, DatabaseSettings, hearErrors, nameOf, QUERY_TIMEOUT_MS } from './pools';
import { cannotReach } from './reach';
import { ReaderPrisma } from './reader-prisma';

/**
 * Connections that stay open when nothing is asked: for keys, admissions, outcomes and what goes on in the background. New ones log
 * in, read the catalog and plan, all of them at the beginning of a burst: after 12 seconds without calls, the first second then
 * served a quarter fewer, at half as much CPU again.
 */
const KEPT_OPEN = 4;

/** How many months of partitions stand ready. */
const PARTITION_MONTHS_AHEAD = 3;
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
  /** Connections of its own, for what reads the history. */
  readonly reader: ReaderPrisma;
  private partitionTimer: NodeJS.Timeout | undefined;

  constructor(config: ConfigService<Loaded, true>) {
    const settings: DatabaseSettings = config.get('settings', { infer: true });
    const pool = hearErrors(
      new Pool({
        ...connectionOf(settings),
        max: settings.databasePoolSize,
        min: KEPT_OPEN,
        query_timeout: QUERY_TIMEOUT_MS,
      }),
    );
    super({ adapter: new PrismaPg(pool, { disposeExternalPool: true, statementNameGenerator: nameOf }) });
    this.url = settings.databaseUrl;
    this.pool = pool;
    this.reader = new ReaderPrisma(settings);
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
   * For many new rows, past Prisma and the connections of the payouts.
   * @param statement a COPY … FROM STDIN.
   * @param lines in its text format, see `copyLine`.
   */
  async copyIn(statement: string, lines: Buffer): Promise<void> {
    await this.reader.copyIn(statement, lines);
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
      this.makePartitions().catch(() => new Logger('Partitions').warn('partitions for the next months not created'));
    }, PARTITION_CHECK_MS);
    this.partitionTimer.unref();
  }

  private async makePartitions(): Promise<void> {
    await this.$queryRaw`SELECT make_partitions(${PARTITION_MONTHS_AHEAD}::integer)::text`;
  }

  /** Once the last request in flight is answered. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.partitionTimer);
    await this.reader.end();
    await this.$disconnect();
  }
}
