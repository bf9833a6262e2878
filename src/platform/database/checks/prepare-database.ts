import { lastMigration, migrateAtStart, pendingMigrations, PROXY_MIGRATIONS } from '../migrations/migrations';
import { DatabaseUrls, sessionUrlOf } from '../pools/pools';
import { Logins, requireAccess } from './access-check';
import { requireEngine, requireSessionLocks } from './engine-check';
import { requireConnections } from './pooler-check';

/**
 * Prepares the database of a start. The server supports the schema and is not newer than this program. Roles
 * and rights are complete, no migration is pending, locks last as long as their session, and no pooler strips
 * the settings that payments need.
 * @param mayMigrate whether startup may apply pending migrations.
 * @returns the names of the migrations it applied, and the last one that the database has.
 * @throws StartError with the next step of the operator.
 */
export async function prepareDatabase(
  logins: Logins & DatabaseUrls,
  mayMigrate: boolean,
): Promise<{ applied: string[]; schema: string }> {
  await requireEngine(logins.databaseOwnerUrl);
  await pendingMigrations(logins.databaseOwnerUrl, PROXY_MIGRATIONS); // rejects a newer database
  await requireAccess(logins);
  const applied = await migrateAtStart(logins.databaseOwnerUrl, PROXY_MIGRATIONS, mayMigrate);
  if (applied.length > 0) await requireAccess(logins);
  await requireSessionLocks(sessionUrlOf(logins));
  await requireConnections(logins);
  return { applied, schema: await lastMigration(logins.databaseOwnerUrl) };
}
