import { join } from 'node:path';
import { StartError } from '../../config/config';
import { LOCKS } from '../locks';
import { withConnection } from '../servers/database-client';
import { appliedMigrations, pendingOf } from './applied-migrations';
import { applyMigration, MIGRATION_RETRIES, RetryPolicy } from './migration-attempts';
import { readMigrations } from './migration-files';

const PRISMA_DIR = join(__dirname, '..', '..', '..', '..', 'prisma');

/** The migrations of the proxy, and those of the sandbox's own database. */
export const PROXY_MIGRATIONS = join(PRISMA_DIR, 'migrations');
export const SANDBOX_MIGRATIONS = join(PRISMA_DIR, 'sandbox', 'migrations');

interface MigrationState {
  name: string;
  appliedAt: Date | null;
}

/**
 * Applies the pending migrations, each in its own transaction. Instances that start together wait for each
 * other. Needs the owner's rights only if a migration is pending.
 * @param upTo the last migration to apply. Without it, all are applied.
 * @returns the names of the migrations it applied.
 * @throws StartError if the database cannot be reached, if it is newer than this program, if an applied
 * migration was edited since, or if other sessions block a migration.
 */
export async function migrate(
  ownerUrl: string,
  directory: string,
  { retries = MIGRATION_RETRIES, upTo }: { retries?: RetryPolicy; upTo?: string | undefined } = {},
): Promise<string[]> {
  return withConnection(ownerUrl, async (client) => {
    const migrations = readMigrations(directory);
    const pending = async () =>
      pendingOf(migrations, await appliedMigrations(client)).filter(
        ({ name }) => upTo === undefined || name <= upTo,
      );
    if ((await pending()).length === 0) return [];
    await client.query('SELECT pg_advisory_lock($1)', [LOCKS.migration]); // released with the connection
    const todo = await pending();
    for (const migration of todo) await applyMigration(ownerUrl, client, migration, retries);
    return todo.map(({ name }) => name);
  });
}

/**
 * Returns the names of the migrations that `migrate` would apply, and changes nothing.
 * @throws StartError in the cases of `migrate`.
 */
export async function pendingMigrations(url: string, directory: string): Promise<string[]> {
  return withConnection(url, async (client) =>
    pendingOf(readMigrations(directory), await appliedMigrations(client)).map(({ name }) => name),
  );
}

/**
 * Applies the pending migrations if the start may.
 * @returns the names of the migrations it applied.
 * @throws StartError if the start may not apply pending migrations, and in the cases of `migrate`.
 */
export async function migrateAtStart(
  ownerUrl: string,
  directory: string,
  mayMigrate: boolean,
): Promise<string[]> {
  if (mayMigrate) return migrate(ownerUrl, directory);
  const { length } = await pendingMigrations(ownerUrl, directory);
  if (length === 0) return [];
  throw new StartError(
    `the database is not up to date: ${length} migration${length === 1 ? ' is' : 's are'} pending. Run ` +
      'npm run cli -- database migrate first, or set MIGRATE_ON_START=true.',
  );
}

/** Returns the last applied migration, which a newer program may have. The database must have one. */
export async function lastMigration(url: string): Promise<string> {
  return withConnection(
    url,
    async (client) => [...(await appliedMigrations(client)).keys()].sort().at(-1) ?? '',
  );
}

/** Returns every migration of this program and when it was applied. */
export async function migrationStatus(url: string, directory: string): Promise<MigrationState[]> {
  return withConnection(url, async (client) => {
    const applied = await appliedMigrations(client);
    return readMigrations(directory).map(({ name }) => ({
      name,
      appliedAt: applied.get(name)?.appliedAt ?? null,
    }));
  });
}
