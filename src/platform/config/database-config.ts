import { Environment } from './environment';

/** How the proxy reaches its database, and what it expects of it. */
export interface DatabaseConfig {
  readonly databaseUrl: string | undefined;
  readonly databaseOwnerUrl: string | undefined;
  /** The address for what needs a session, if `databaseUrl` leads through a pooler that gives each transaction another one. */
  readonly databaseSessionUrl: string | undefined;
  /** A standby that searches and exports read from. */
  readonly databaseReplicaUrl: string | undefined;
  /** A login that may take the role `payout_sealer`. Without it, the owner's login takes the role. */
  readonly databaseSealerUrl: string | undefined;
  /** Whether a start applies pending migrations. Otherwise it is refused while some are pending. */
  readonly migrateOnStart: boolean;
  readonly databasePoolSize: number;
  /**
   * What is allowed although it is unsafe: settings of Postgres that can lose commits (durability.service.ts), and
   * connections without TLS (production.ts).
   */
  readonly databaseAllowUnsafe: readonly string[];
  /** The free bytes of a disk below which nothing new is admitted. 0 disables it. */
  readonly minFreeBytes: number;
  /** The bytes that a remote database keeps for the outcomes of calls in flight. 0 disables it. */
  readonly databaseReserveBytes: number;
  /** The most by which the clock may differ from the database's. Past it, the instance does not pay. */
  readonly maxClockSkewMs: number;
}

const MEGABYTE = 1_048_576;

export function toDatabaseConfig(env: Environment): DatabaseConfig {
  return {
    databaseUrl: env.DATABASE_URL,
    databaseOwnerUrl: env.DATABASE_OWNER_URL,
    databaseSessionUrl: env.DATABASE_SESSION_URL,
    databaseReplicaUrl: env.DATABASE_REPLICA_URL,
    databaseSealerUrl: env.DATABASE_SEALER_URL,
    migrateOnStart:
      env.MIGRATE_ON_START === undefined ? env.NODE_ENV !== 'production' : env.MIGRATE_ON_START === 'true',
    databasePoolSize: env.DATABASE_POOL_SIZE,
    databaseAllowUnsafe: Object.freeze(env.DATABASE_ALLOW_UNSAFE),
    minFreeBytes: env.MIN_FREE_SPACE_MB * MEGABYTE,
    databaseReserveBytes: env.DATABASE_RESERVE_MB * MEGABYTE,
    maxClockSkewMs: env.MAX_CLOCK_SKEW_SECONDS * 1_000,
  };
}
