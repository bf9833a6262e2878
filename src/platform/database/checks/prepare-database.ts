import { lastMigration, migrateAtStart, pendingMigrations, PROXY_MIGRATIONS } from '../migrations/migrations';
import { DatabaseUrls, sessionUrlOf } from '../pools/pools';
import { Logins, requireAccess } from './access-check';
import { requireEngine, requireSessionLocks } from './engine-check';
import { requireConnections } from './pooler-check';

/**
 * Makes sure that a start finds a database that it can use: a server with all that the schema needs, no newer
 * than this program, with its roles and rights, without pending migrations, with locks that last as long as a
 * session, and behind no pooler that takes from the connections what payments need.
 * @param mayMigrate whether startup may apply pending migrations.
 * @returns the names of the migrations it applied, and the last one that the database has.
 * @throws StartError that says what an operator must do first.
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
