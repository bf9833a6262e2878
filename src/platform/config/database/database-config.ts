import { Environment } from '../environment/environment';

const MEGABYTE = 1_048_576;

/** Returns how the proxy reaches its database, and what it expects of it. */
export function toDatabaseConfig(env: Environment) {
  return {
    databaseUrl: env.DATABASE_URL,
    databaseOwnerUrl: env.DATABASE_OWNER_URL,
    /** The address for what needs a session, if `databaseUrl` leads through a pooler that gives each transaction another one. */
    databaseSessionUrl: env.DATABASE_SESSION_URL,
    /** A standby that searches and exports read from. */
    databaseReplicaUrl: env.DATABASE_REPLICA_URL,
    /** A login that may take the role `payout_sealer`. Without it, the owner's login takes the role. */
    databaseSealerUrl: env.DATABASE_SEALER_URL,
    /** Whether a start applies pending migrations. Otherwise it is refused while some are pending. */
    migrateOnStart:
      env.MIGRATE_ON_START === undefined ? env.NODE_ENV !== 'production' : env.MIGRATE_ON_START === 'true',
    databasePoolSize: env.DATABASE_POOL_SIZE,
    /**
     * What is allowed although it is unsafe: settings of Postgres that can lose commits (durability.service.ts), and
     * connections without TLS (production.ts).
     */
    databaseAllowUnsafe: Object.freeze(env.DATABASE_ALLOW_UNSAFE),
    /** The free bytes of a disk below which nothing new is admitted. 0 disables it. */
    minFreeBytes: env.MIN_FREE_SPACE_MB * MEGABYTE,
    /** The bytes that a remote database keeps for the outcomes of calls in flight. 0 disables it. */
    databaseReserveBytes: env.DATABASE_RESERVE_MB * MEGABYTE,
    /** The most by which the clock may differ from the database's. Past it, the instance does not pay. */
    maxClockSkewMs: env.MAX_CLOCK_SKEW_SECONDS * 1_000,
  };
}
