import { Pool, PoolConfig } from 'pg';

export interface DatabaseSettings {
  databaseUrl: string;
  databaseOwnerUrl: string;
  databasePoolSize: number;
}

/** The longest statement is a search over a long history; the journal's take some milliseconds. */
export const STATEMENT_TIMEOUT_MS = 10_000;

/** Where the server does not even say that the time of a statement is over. */
export const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1_000;

/**
 * A row that somebody keeps locked must not hold back the payouts of others for long: a batch that met it is tried again, call by
 * call, while their apps still wait (DATABASE_PATIENCE_MS).
 */
const LOCK_TIMEOUT_MS = 1_000;

/** A process that is frozen within a transaction lets go of its locks before others give up waiting for them. */
const IDLE_IN_TRANSACTION_MS = 3_000;

/** With one URL for both, which is the owner's, each connection steps down to the proxy's role. */
export function connectionOf({ databaseUrl, databaseOwnerUrl }: DatabaseSettings): PoolConfig {
  return {
    connectionString: databaseUrl,
    connectionTimeoutMillis: 5_000,
    // A lock or a dead connection must not hold payouts back until long after their apps have given up.
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    ...(databaseUrl === databaseOwnerUrl && { options: '-c role=payout_proxy' }),
  };
}

/**
 * A connection that ends while nobody uses it, or right after it began, has an error that nobody else hears, and that would end
 * the process. Whoever uses the connection gets an error of its own.
 */
export function hearErrors<Some extends Pool>(pool: Some): Some {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A statement's name, if it says one: `-- prepared as find_key`. */
const PREPARED = /^\s*-- prepared as (\w+)\n/;

/** Each connection plans a statement with a name once: planning is most of what the small ones of every request cost. */
export function nameOf({ sql }: { sql: string }): string {
  return PREPARED.exec(sql)?.[1] ?? '';
}
