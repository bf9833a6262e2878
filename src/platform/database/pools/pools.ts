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

/** Statement timeout. The longest statement is a search of a long history. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** Query timeout, for servers that do not even report the statement timeout. */
export const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1_000;

/**
 * Lock timeout. A locked row must not delay the payouts of other clients. A batch that meets one is retried
 * call by call, while its apps still wait (REQUEST_TIMEOUT_MS).
 */
const LOCK_TIMEOUT_MS = 1_000;

/** Idle timeout of a transaction. A frozen process loses its locks before others give up waiting for them. */
const IDLE_IN_TRANSACTION_MS = 3_000;

const CONNECT_MS = 5_000;

/** ServerClient for a pool. The types of pg do not pass a configuration to its constructor. */
const SERVER_CLIENT = ServerClient as unknown as NonNullable<PoolConfig['Client']>;

/** The limits of every session. Neither a lock nor a dead connection may outlast the apps of payouts. */
export const LIMITS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
} as const;

/**
 * Option for statements on one core. Postgres would otherwise read a long table with several processes, and
 * payments would wait for all of them. With two cores, three such reads by the jobs raised payments from 11
 * to 30 ms at the 99th percentile.
 */
const ONE_CORE = '-c max_parallel_workers_per_gather=0';

/**
 * Error format without the position of the call. For the position, Prisma takes a stack trace of every query,
 * and V8 keeps the values of its callers, such as a page of records, until it collects its old generation.
 */
export const ERROR_FORMAT = 'minimal';

export type SessionUrls = Pick<DatabaseUrls, 'databaseUrl' | 'databaseSessionUrl'>;

/** Returns the address for session features: locks, settings and temporary tables. */
export function sessionUrlOf({ databaseUrl, databaseSessionUrl = databaseUrl }: SessionUrls): string {
  return databaseSessionUrl;
}

/** Returns whether a pooler may give each transaction of a payment another session. */
export function isPooled(urls: SessionUrls): boolean {
  return sessionUrlOf(urls) !== urls.databaseUrl;
}

/**
 * Returns the settings of the connections for payments and the heartbeat. A pooler drops start-up parameters,
 * so the login has the limits (pooler-check.ts).
 */
export function connectionOf(settings: DatabaseUrls): PoolConfig {
  if (!isPooled(settings)) return sessionOf(settings);
  return {
    Client: SERVER_CLIENT,
    connectionString: settings.databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
  };
}

/** Returns the settings of other connections. With the owner's URL, each takes the proxy's role. */
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

/** Handles errors of idle connections, which would end the process. Queries report their own errors. */
export function handleIdleErrors<Some extends Pool>(pool: Some): Some {
  return pool.on('error', () => undefined);
}

/** Returns a class for `Client` of a pool that reports the SQLSTATE of each error of the server. */
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

/** Gives up the stale connections of a pool. Statements on them fail as if the server had closed them. */
export type GiveUp = (isStale: (client: ClientBase) => boolean) => void;

/** Returns a function that gives up connections of a pool. Call it before the first one is opened. */
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

/** The first line of a named statement: `-- prepared as find_key`. */
const PREPARED = /^\s*-- prepared as (\w+)\n/;

/** Returns the name of a statement. A connection plans it once, which is most of the work of small ones. */
export function nameOf({ sql }: { sql: string }): string {
  return PREPARED.exec(sql)?.[1] ?? '';
}

/** Settings of a connection that only holds a lock or listens. */
export const IDLE_CONNECTION = {
  connectionTimeoutMillis: 5_000,
  query_timeout: 5_000,
  // Without keep-alive, nothing would notice that the server is gone.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};
