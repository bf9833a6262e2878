import { Client, ClientBase, ClientConfig, Connection, Pool, PoolConfig } from 'pg';
import { ConnectionUse } from '../../config/database/database-url';
import { ServerClient } from '../servers/server-client';
import { WITH_WARNINGS } from './replication';

export interface DatabaseUrls {
  databaseUrl: string;
  databaseOwnerUrl: string;
  databaseSessionUrl?: string | undefined;
  databaseReplicaUrl?: string | undefined;
}

export interface DatabaseSettings extends DatabaseUrls {
  databasePoolSize: number;
}

/** The longest statement is a search over a long history. The journal's statements take some milliseconds. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** For servers that do not report the statement timeout either. */
export const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1_000;

/**
 * A locked row must not delay the payouts of other clients. A batch that meets one is retried call by call,
 * while its apps still wait (REQUEST_PATIENCE_MS).
 */
const LOCK_TIMEOUT_MS = 1_000;

/** A process that is frozen within a transaction loses its locks before others give up waiting for them. */
const IDLE_IN_TRANSACTION_MS = 3_000;

const CONNECT_MS = 5_000;

/** Its constructor needs a configuration, which the types of pg leave out. */
const SERVER_CLIENT = ServerClient as unknown as NonNullable<PoolConfig['Client']>;

/**
 * The limits of every session. A lock or a dead connection must not delay payouts until after their apps have
 * given up.
 */
export const LIMITS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
} as const;

/**
 * A statement uses one core at most. Postgres would otherwise read a long table with several processes, and
 * payments would wait for all of them: with two cores, three such reads by the jobs took payments to 30 ms at
 * the 99th percentile, from 11.
 */
const ONE_CORE = '-c max_parallel_workers_per_gather=0';

/**
 * Prisma describes errors without the place of the call. To know that place, it takes a stack trace of every
 * query. V8 keeps what the callers of a trace hold, such as a page of records, until it collects its old
 * generation.
 */
export const ERROR_FORMAT = 'minimal';

export type SessionUrls = Pick<DatabaseUrls, 'databaseUrl' | 'databaseSessionUrl'>;

/**
 * Returns the address for what needs a session of the server: its locks, its settings and its temporary
 * tables.
 */
export function sessionUrlOf({ databaseUrl, databaseSessionUrl = databaseUrl }: SessionUrls): string {
  return databaseSessionUrl;
}

/**
 * Returns whether each transaction of a payment may have another session, because a pooler may be in between.
 */
export function isPooled(urls: SessionUrls): boolean {
  return sessionUrlOf(urls) !== urls.databaseUrl;
}

/**
 * Returns the settings of the connections for payments and the heartbeat. A pooler passes no start-up
 * parameters on, so their login has the limits instead (pooler-check.ts).
 */
export function connectionOf(settings: DatabaseUrls): PoolConfig {
  if (!isPooled(settings)) return sessionOf(settings);
  return {
    Client: SERVER_CLIENT,
    connectionString: settings.databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
  };
}

/**
 * Returns the settings of all other connections. If the URL is the owner's, each connection takes the proxy's
 * role.
 */
export function sessionOf(settings: DatabaseUrls): PoolConfig {
  const url = sessionUrlOf(settings);
  return {
    Client: SERVER_CLIENT,
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    ...LIMITS,
    options: optionsOf(url === settings.databaseOwnerUrl),
  };
}

/** @param isOwner whether the login is the owner's, which takes the proxy's role. */
function optionsOf(isOwner: boolean): string {
  return [WITH_WARNINGS, ONE_CORE, ...(isOwner ? ['-c role=payout_proxy'] : [])].join(' ');
}

/** Adds settings of Postgres to those of each connection. */
export function withOptions(connection: PoolConfig, options: string): PoolConfig {
  return { ...connection, options: [connection.options, options].filter(Boolean).join(' ') };
}

/** Returns the settings of connections to the replica. Undefined if there is none. */
export function replicaOf(settings: DatabaseUrls): PoolConfig | undefined {
  const { databaseReplicaUrl: url, databaseOwnerUrl } = settings;
  if (url === undefined) return undefined;
  const [login, owner] = [url, databaseOwnerUrl].map(
    (one) => new ServerClient({ connectionString: one }).user,
  );
  const options = optionsOf(login === owner);
  const reading: PoolConfig & { use: ConnectionUse } = {
    ...sessionOf(settings),
    connectionString: url,
    options,
    use: 'reading',
  };
  return reading;
}

/**
 * Handles the errors of idle connections, which would otherwise end the process. Queries report their own
 * errors.
 */
export function hearErrors<Some extends Pool>(pool: Some): Some {
  return pool.on('error', () => undefined);
}

/**
 * Returns a class of connections that report the SQLSTATE of each error of the server, also of those that
 * refuse a login. For `Client` of a pool.
 */
export function reporting(report: (code: string) => void): NonNullable<PoolConfig['Client']> {
  class Reporting extends ServerClient {
    constructor(config: ClientConfig) {
      super(config);
      const { connection } = this as unknown as { connection: Connection }; // not in the types of pg
      connection.on('errorMessage', ({ code }: { code?: string }) => report(code ?? ''));
    }
  }
  return Reporting as unknown as NonNullable<PoolConfig['Client']>;
}

/**
 * Gives up the connections of a pool that are stale. Statements on them fail as if the server had closed
 * them.
 */
export type GiveUp = (isStale: (client: ClientBase) => boolean) => void;

/** Knows the connections of a pool, to give them up. Call it before the first one is opened. */
export function connectionsOf(pool: Pool): GiveUp {
  const [open, busy] = [new Set<ClientBase>(), new Set<ClientBase>()];
  pool.on('connect', (client) => open.add(client));
  pool.on('acquire', (client) => busy.add(client));
  pool.on('release', (_error, client) => busy.delete(client));
  pool.on('remove', (client) => open.delete(client));
  return (isStale) => {
    for (const client of [...open].filter(isStale)) {
      open.delete(client);
      // The pool closes an idle connection that fails, and a busy one that has ended once it is released.
      if (busy.has(client)) void (client as Client).end();
      else client.emit('error', new Error('Connection terminated because it is stale'));
    }
  };
}

/** The name of a statement, if it has one: `-- prepared as find_key`. */
const PREPARED = /^\s*-- prepared as (\w+)\n/;

/**
 * Returns the name of a statement. A connection plans a named statement once. Planning is most of the work of
 * small ones.
 */
export function nameOf({ sql }: { sql: string }): string {
  return PREPARED.exec(sql)?.[1] ?? '';
}

/** Settings of a connection that is idle most of the time, because it only holds a lock or listens. */
export const IDLE_CONNECTION = {
  connectionTimeoutMillis: 5_000,
  query_timeout: 5_000,
  // Without keep-alive, nothing would notice that the server is gone.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};
