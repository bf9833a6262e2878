import { Inject, Injectable, OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { ClientBase, Pool } from 'pg';
import { SETTINGS, StartError } from '../../config/config';
import { PrismaClient } from '../generated/client';
import { cannotReach } from '../servers/database-client';
import {
  connectionOf,
  connectionsOf,
  DatabaseSettings,
  ERROR_FORMAT,
  GiveUp,
  handleIdleErrors,
  isPooled,
  nameOf,
  QUERY_TIMEOUT_MS,
  reporting,
  sessionOf,
} from './pools';
import { ReaderPrisma } from './reader-prisma';
import { requireReplication } from './replication';
import { cancelOverdueStatements } from './statement-canceler';

/**
 * Connections that stay open while idle: for keys, admissions, outcomes and background work. New ones log in,
 * read the catalog and plan, all at the beginning of a burst. After 12 idle seconds, the first second of a
 * burst then served a quarter fewer calls, with 50 % more CPU time.
 */
const KEPT_OPEN = 4;

/**
 * The number of future months with prepared partitions. Every new connection reads the catalog of all, so
 * more of them would slow down its first request.
 */
const PARTITION_MONTHS_AHEAD = 1;

type ConnectionCheck = (client: ClientBase) => Promise<void>;

/**
 * The connections of payments and of background work, with a role that may add records but not change them.
 * SidePrisma and ReaderPrisma have others. If both URLs are the owner's, each connection takes that role.
 * Otherwise, DATABASE_URL is a login that was granted `payout_proxy`.
 */
@Injectable()
export class PrismaService extends PrismaClient implements OnApplicationShutdown {
  private readonly url: string;
  /** The number of connections, and of those that stay open while idle. */
  static readonly sizeOf = ({ databasePoolSize: max }: DatabaseSettings) => ({
    max,
    min: Math.min(KEPT_OPEN, Math.floor(max / 2)),
  });

  /**
   * Whether a pooler may be in between (DATABASE_SESSION_URL). Each transaction may then have another
   * session, without the statements that were prepared before.
   */
  readonly isPooled: boolean;
  /** The pool of the Prisma client. */
  private readonly pool: Pool;
  /** Gives up each stale connection. No query begins on it in the same turn or later. */
  readonly giveUpConnections: GiveUp;
  private readonly checks: ConnectionCheck[];
  private stopLooking = (): void => undefined;
  private readonly serverListeners: ((server: string) => void)[] = [];
  private readonly unconfirmed: (() => void)[];
  private readonly errorListeners: ((code: string) => void)[];
  private readonly settings: DatabaseSettings;
  private ownReader: ReaderPrisma | undefined;

  constructor(@Inject(SETTINGS) settings: DatabaseSettings) {
    const checks: ConnectionCheck[] = [];
    const errorListeners: ((code: string) => void)[] = [];
    const Reporting = reporting((code) => errorListeners.forEach((listener) => listener(code)));
    const options = {
      ...connectionOf(settings),
      Client: Reporting,
      ...new.target.sizeOf(settings),
      query_timeout: QUERY_TIMEOUT_MS,
      // pg-pool waits for the promise, although its types omit it.
      onConnect: async (client: ClientBase) => {
        for (const check of checks) await check(client);
      },
    };
    const unconfirmed: (() => void)[] = [];
    const pool = handleIdleErrors(new Pool(options));
    pool.on('connect', (client) =>
      requireReplication(client, () => unconfirmed.forEach((listener) => listener())),
    );
    super({
      errorFormat: ERROR_FORMAT,
      adapter: new PrismaPg(pool, {
        disposeExternalPool: true,
        ...(!isPooled(settings) && { statementNameGenerator: nameOf }),
      }),
    });
    this.isPooled = isPooled(settings);
    this.url = settings.databaseUrl;
    this.pool = pool;
    this.giveUpConnections = connectionsOf(pool);
    this.checks = checks;
    this.unconfirmed = unconfirmed;
    this.errorListeners = errorListeners;
    this.settings = settings;
  }

  /** Separate connections for reads of the history. */
  get reader(): ReaderPrisma {
    return (this.ownReader ??= new ReaderPrisma({
      ...sessionOf(this.settings),
      Client: this.pool.options.Client,
    }));
  }

  /** Checks each connection of the pool before its first use. A failed check fails the connection. */
  checkConnections(check: ConnectionCheck): void {
    this.checks.push(check);
  }

  /**
   * Cancels statements that outlive their requests. For a process that serves requests: a worker and a
   * command have longer statements.
   */
  endOverdue(afterMs: number): void {
    this.stopLooking = cancelOverdueStatements(this.pool, afterMs);
  }

  /** Shares the checks and the listeners of another service. */
  protected checkLike(other: PrismaService): void {
    this.checkConnections(async (client) => {
      for (const check of other.checks) await check(client);
    });
    this.watchUnconfirmed(() => other.unconfirmed.forEach((listener) => listener()));
  }

  /** Calls a listener for each commit that the synchronous standby has not confirmed. */
  watchUnconfirmed(listener: () => void): void {
    this.unconfirmed.push(listener);
  }

  /** Calls a listener with the SQLSTATE of each error of the server, on any connection of the two pools. */
  watchErrors(listener: (code: string) => void): void {
    this.errorListeners.push(listener);
  }

  /** Calls a listener with the server of each admission through a pooler. */
  watchServers(listener: (server: string) => void): void {
    this.serverListeners.push(listener);
  }

  /** Reports the server of an admission's transaction, before anything is sent. */
  ranOn(server: string | null | undefined): void {
    for (const listener of this.serverListeners) listener(server ?? 'a standby');
  }

  /**
   * Resolves once the synchronous standby has confirmed every commit so far. A commit waits only if it
   * writes, and a retry may find its row in place. A message in the write-ahead log always waits.
   */
  async confirm(): Promise<void> {
    await this.prepared('confirm', `SELECT pg_logical_emit_message(true, 'payout_proxy', '')::text`, []);
  }

  /**
   * Runs a statement of every request on the same connections without Prisma's client, which would take
   * longer than Postgres. Each connection plans the statement once.
   * @param name the name of this text alone.
   * @param text has $1, $2 … for `values`. A Buffer is sent as it is, in the binary format of its type.
   * @throws the errors of pg. See isUnavailable.
   */
  async prepared<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.pool.query<Row>({ text, values, ...(!this.isPooled && { name }) })).rows;
  }

  /**
   * Writes many rows without Prisma, and without a connection of the payouts.
   * @param statement a COPY … FROM STDIN.
   * @param lines rows in its text format. See `copyLine`.
   */
  async copyIn(statement: string, lines: Buffer): Promise<void> {
    await this.reader.copyIn(statement, lines);
  }

  /**
   * Connects, and creates the partitions of this month and the next. A worker repeats that every day.
   * @throws StartError if the database cannot be reached.
   */
  async start(): Promise<void> {
    try {
      await this.makePartitions();
    } catch (error) {
      throw error instanceof StartError ? error : cannotReach(this.url, error);
    }
  }

  async makePartitions(): Promise<void> {
    await this.$queryRaw`SELECT make_partitions(${PARTITION_MONTHS_AHEAD}::integer)::text`;
  }

  /** Runs after the last request in flight was answered. */
  async onApplicationShutdown(): Promise<void> {
    this.stopLooking();
    await this.ownReader?.end();
    await this.$disconnect();
  }
}
