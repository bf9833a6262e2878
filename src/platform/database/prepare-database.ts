import { Logins, requireAccess } from './access-check';
import { migrateAtStart, pendingMigrations, PROXY_MIGRATIONS } from './migrations';

/**
 * Makes sure that a start finds a database that it can use: no newer than this program, with its roles and rights, and
 * without pending migrations.
 * @param mayMigrate whether the start may apply pending migrations.
 * @returns the names of the migrations it applied.
 * @throws StartError that says what an operator must do first.
 */
export async function prepareDatabase(logins: Logins, mayMigrate: boolean): Promise<string[]> {
  await pendingMigrations(logins.databaseOwnerUrl, PROXY_MIGRATIONS); // rejects a newer database
  await requireAccess(logins);
  const applied = await migrateAtStart(logins.databaseOwnerUrl, PROXY_MIGRATIONS, mayMigrate);
  if (applied.length > 0) await requireAccess(logins);
  return applied;
}
