import { requireAccess } from '../../platform/database/checks/access-check';
import { requireEngine, requireSessionLocks } from '../../platform/database/checks/engine-check';
import {
  migrate,
  migrationStatus,
  pendingMigrations,
  PROXY_MIGRATIONS,
  SANDBOX_MIGRATIONS,
} from '../../platform/database/migrations/migrations';
import { print } from '../output';
import { DatabaseUrls, withDatabase } from './connection';

export interface MigrateOptions {
  dryRun?: boolean;
  json?: boolean;
}

export function migrateDatabase(options: MigrateOptions): Promise<void> {
  return withDatabase((urls) => migrateAll(urls, options), { create: !options.dryRun });
}

async function migrateAll(
  { ownerUrl, sandboxUrl }: DatabaseUrls,
  { dryRun, json }: MigrateOptions,
): Promise<void> {
  const work = dryRun ? pendingMigrations : migrate;
  await requireEngine(ownerUrl);
  const names = await work(ownerUrl, PROXY_MIGRATIONS);
  if (sandboxUrl !== undefined) {
    names.push(...(await work(sandboxUrl, SANDBOX_MIGRATIONS)).map((name) => `sandbox/${name}`));
  }
  const none = dryRun ? 'No migrations are pending.' : 'No migrations to apply.';
  if (json) print(dryRun ? { pending: names } : { applied: names }, json);
  else process.stdout.write(`${names.join('\n') || none}\n`);
  if (dryRun && names.length > 0) process.exitCode = 1;
}

export function showStatus({ json }: { json?: boolean }): Promise<void> {
  return withDatabase(async ({ url, ownerUrl, sealerUrl }) => {
    await requireEngine(ownerUrl);
    const states = await migrationStatus(ownerUrl, PROXY_MIGRATIONS);
    const rows = states.map(({ name, appliedAt }) => ({ name, applied_at: appliedAt }));
    print(rows, json);
    if (states.some(({ appliedAt }) => appliedAt === null)) process.exitCode = 1;
    await pendingMigrations(ownerUrl, PROXY_MIGRATIONS); // rejects newer databases and edited migrations
    await requireAccess({ databaseUrl: url, databaseOwnerUrl: ownerUrl, databaseSealerUrl: sealerUrl });
    await requireSessionLocks(url);
  });
}
