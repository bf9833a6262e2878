import { Client } from 'pg';
import { Manifest, readManifest } from '../../continuity/backup/manifest';
import { requireRecords, restoreTables } from '../../continuity/backup/restore-tables';
import { stopRestored } from '../../journal/stops/stops';
import { Config, loadConfigOf } from '../../platform/config/config';
import { grantAccess, grantLogins, Logins, requireAccess } from '../../platform/database/checks/access-check';
import { DATABASE_MS } from '../../platform/database/clock';
import { withConnection } from '../../platform/database/servers/database-client';
import { changedByOperator } from '../operator';
import { print } from '../output';
import { confirm, Progress } from '../terminal';
import { checkFiles, restoreFiles } from './back-up';
import { compareClock, requireUpToDate, withDatabase } from './connection';

export interface RestoreOptions {
  yes?: boolean;
  json?: boolean;
}

/**
 * Restarts the search index on another server. Its position is a transaction number, and another server gives
 * the same numbers again.
 */
const RESTART_INDEX = `
  UPDATE search_position SET done = '3:3:', target = NULL, after_tx = NULL, after_id = NULL
  WHERE (
    SELECT split_part(server, '/', 1) <> split_part(database_server(), '/', 1)
    FROM epoch ORDER BY number DESC LIMIT 1
  )`;

export async function restore(folder: string, options: RestoreOptions): Promise<void> {
  const config = loadConfigOf('database');
  const manifest = await readManifest(folder);
  await checkFiles(folder, manifest, config);
  await confirm(`This restores the backup of ${manifest.taken_at} and stops all payments.`, options.yes);
  const hasTables = manifest.tables.length > 0;
  await withDatabase(
    async ({ url, ownerUrl, sealerUrl }) => {
      const logins = { databaseUrl: url, databaseOwnerUrl: ownerUrl, databaseSealerUrl: sealerUrl };
      const stopId = hasTables
        ? await restoreRows(ownerUrl, folder, manifest, config)
        : await stopPayments(logins, manifest);
      if (!hasTables) await restoreFiles(folder, config);
      await grantAccess(logins);
      const missing = await grantLogins(ownerUrl, manifest.logins);
      print(resultOf(manifest, stopId, missing), options.json);
      await requireAccess(logins);
    },
    { create: hasTables },
  );
}

async function restoreRows(
  ownerUrl: string,
  folder: string,
  manifest: Manifest,
  config: Config,
): Promise<string> {
  const progress = new Progress('rows');
  const total = rowsOf(manifest);
  let stopId = '';
  const source = { folder, manifest, onProgress: (rows: number) => progress.at(rows, total) };
  await restoreTables(ownerUrl, source, async (client) => {
    stopId = await stopBy(client, manifest);
    await restoreFiles(folder, config); // before the commit, because a restore cannot be repeated after it
  });
  progress.end();
  return stopId;
}

/** Stops payments after another tool restored the rows. Grants roles first, because migrations need them. */
async function stopPayments(logins: Logins, manifest: Manifest): Promise<string> {
  const { databaseOwnerUrl: ownerUrl } = logins;
  await requireRecords(ownerUrl);
  await grantAccess(logins);
  await requireUpToDate(ownerUrl);
  return withConnection(ownerUrl, async (client) => {
    await client.query(RESTART_INDEX);
    return stopBy(client, manifest);
  });
}

async function stopBy(client: Client, { taken_at: takenAt, tables }: Manifest): Promise<string> {
  await compareClock(async () => (await client.query<{ ms: number }>(DATABASE_MS)).rows as [{ ms: number }]);
  const restored =
    tables.length > 0
      ? `The database was restored from a backup of ${takenAt}. It lacks later payments.`
      : 'The database was restored with another tool. It may lack payments.';
  return stopRestored(client, `${restored} Run database recover.`, changedByOperator(undefined).actor);
}

const rowsOf = ({ tables }: Manifest) => tables.reduce((sum, { rows }) => sum + rows, 0);

function resultOf(manifest: Manifest, stopId: string, missing: string[]) {
  const { taken_at, tables, epoch } = manifest;
  return {
    taken_at,
    tables: tables.length,
    rows: rowsOf(manifest),
    epoch,
    stop_id: stopId,
    logins_missing: missing,
  };
}
