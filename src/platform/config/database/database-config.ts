import { Environment } from '../environment/environment';

const MEGABYTE = 1_048_576;

/** Returns the database's addresses and limits. */
export function toDatabaseConfig(env: Environment) {
  return {
    databaseUrl: env.DATABASE_URL,
    databaseOwnerUrl: env.DATABASE_OWNER_URL,
    /** The address for session features, if `databaseUrl` is a pooler in transaction mode. */
    databaseSessionUrl: env.DATABASE_SESSION_URL,
    /** A standby for searches and exports. */
    databaseReplicaUrl: env.DATABASE_REPLICA_URL,
    /** A login with the role `payout_sealer`. Default: the owner's login. */
    databaseSealerUrl: env.DATABASE_SEALER_URL,
    /** Whether startup applies pending migrations. If not, pending migrations prevent it. */
    migrateOnStart:
      env.MIGRATE_ON_START === undefined ? env.NODE_ENV !== 'production' : env.MIGRATE_ON_START === 'true',
    databasePoolSize: env.DATABASE_POOL_SIZE,
    /**
     * Allowed unsafe settings: settings of Postgres that can lose commits (durability.service.ts), and
     * connections without TLS (production.ts).
     */
    databaseAllowUnsafe: Object.freeze(env.DATABASE_ALLOW_UNSAFE),
    /** Minimum free bytes of a disk for admissions. 0 disables it. */
    minFreeBytes: env.MIN_FREE_SPACE_MB * MEGABYTE,
    /** Bytes reserved in a remote database for the outcomes of calls in flight. 0 disables it. */
    databaseReserveBytes: env.DATABASE_RESERVE_MB * MEGABYTE,
    /** Maximum clock skew to the database. Above it, the instance does not pay. */
    maxClockSkewMs: env.MAX_CLOCK_SKEW_SECONDS * 1_000,
  };
}
