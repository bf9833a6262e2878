import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { StartError } from '../../platform/config/config';
import { pendingOf, notOwner } from '../../platform/database/migrations/applied-migrations';
import { readMigrations } from '../../platform/database/migrations/migration-files';
import { migrate, PROXY_MIGRATIONS } from '../../platform/database/migrations/migrations';
import { isUnavailable } from '../../platform/database/pools/unavailable';
import { withConnection } from '../../platform/database/servers/database-client';
import { codeOf } from '../../platform/errors/error-code';
import { hashing } from './hashing';
import { fileOf, Manifest, TableCopy } from './manifest';

/**
 * Loads the tables of a backup into a database without records, in one transaction. Starts with the schema of
 * the backup, and applies pending migrations afterwards.
 * @param inTransaction runs after the rows are loaded and before they are visible.
 * @throws StartError if the database has records, if the backup is damaged, or if a newer program wrote it.
 */
export async function restoreTables(
  ownerUrl: string,
  {
    folder,
    manifest,
    onProgress,
  }: { folder: string; manifest: Manifest; onProgress: (rows: number) => void },
  inTransaction: (client: Client) => Promise<void>,
): Promise<void> {
  requireKnownMigrations(manifest);
  await withConnection(ownerUrl, async (client) => {
    await requireEmpty(client);
    await migrate(ownerUrl, PROXY_MIGRATIONS, { upTo: manifest.migrations.at(-1)?.name });
    await client.query("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL timezone = 'UTC'");
    // A proxy that starts now waits for its clients.
    await client.query('LOCK TABLE client IN ACCESS EXCLUSIVE MODE');
    await requireEmpty(client);
    await makePartitions(client, manifest);
    let done = 0;
    for (const table of manifest.tables) {
      if (await isOurs(client, table.name)) await copyIn(client, table, join(folder, fileOf(table.name)));
      onProgress((done += table.rows));
    }
    for (const { name, last } of manifest.sequences)
      if (last !== null && (await isOurs(client, name)))
        await client.query('SELECT setval($1::regclass, $2::bigint)', [`public.${name}`, last]);
    // A worker rebuilds the index. Searches find nothing before.
    await client.query('DELETE FROM search_position');
    await inTransaction(client);
    await client.query('COMMIT');
    await client.query('ANALYZE');
  });
  await migrate(ownerUrl, PROXY_MIGRATIONS);
}

function requireKnownMigrations({ migrations }: Manifest): void {
  const applied = migrations.map(({ name, checksum }) => {
    return [name, { checksum, appliedAt: new Date(0), oldestProgram: undefined }] as const;
  });
  try {
    pendingOf(readMigrations(PROXY_MIGRATIONS), new Map(applied));
  } catch (error) {
    throw new StartError(`This program cannot restore the backup. In it, ${(error as Error).message}`);
  }
}

/** @throws StartError unless the database is new or only migrated. */
async function requireEmpty(client: Client): Promise<void> {
  if ((await contentOf(client)) === 'nothing') return;
  throw new StartError(
    'The database is not empty, and a restore never replaces anything. Create a new database, or give ' +
      'another DATA_DIR.',
  );
}

/** @throws StartError if no other tool has restored the proxy's tables. */
export async function requireRecords(ownerUrl: string): Promise<void> {
  if ((await withConnection(ownerUrl, contentOf)) === 'records') return;
  throw new StartError(
    'The database has no records, and the backup has no tables. First restore the database with the ' +
      'tool that backed it up, such as pg_restore. Then run this command again. If you have a backup with ' +
      'tables, restore that instead.',
  );
}

/** @throws StartError if another login owns the tables. */
async function contentOf(client: Client): Promise<'nothing' | 'records' | 'other tables'> {
  const denied = await notOwner(client);
  if (denied) throw denied;
  const { rows } = await client.query<{ tables: string[] }>(
    `SELECT ARRAY(SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
      AND relkind IN ('r', 'p')
       AND NOT relispartition) AS tables`,
  );
  const tables = rows[0]?.tables ?? [];
  // An interrupted migration may leave it behind.
  if (tables.every((name) => name === '_prisma_migrations')) return 'nothing';
  if (!tables.includes('_prisma_migrations') || !tables.includes('client')) return 'other tables';
  const filled = await client.query(
    'SELECT FROM client UNION ALL SELECT FROM intent UNION ALL SELECT FROM activity LIMIT 1',
  );
  return filled.rowCount === 0 ? 'nothing' : 'records';
}

/** Creates the backup's partitions that the migrations did not create. */
async function makePartitions(client: Client, { partitions }: Manifest): Promise<void> {
  for (const { parent, name, bounds } of partitions)
    if ((await isOurs(client, parent)) && !(await isOurs(client, name)))
      await client.query('SELECT make_partition($1, $2, $3)', [parent, name, bounds]);
}

/**
 * Returns whether the schema has a table or a sequence. The backup's migrations created all of the proxy's.
 * Other objects in the owner's schema are skipped.
 */
async function isOurs(client: Client, name: string): Promise<boolean> {
  const path = `public.${client.escapeIdentifier(name)}`;
  const { rows } = await client.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
    path,
  ]);
  return rows[0]?.there ?? false;
}

async function copyIn(
  client: Client,
  { name, columns, rows, sha256 }: TableCopy,
  file: string,
): Promise<void> {
  const table = client.escapeIdentifier(name);
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  await client.query(`DELETE FROM ${table}`); // Rows inserted by a migration.
  const target = client.query(copyFrom(`COPY ${table} (${list}) FROM STDIN`));
  const read = hashing();
  try {
    await pipeline(createReadStream(file), read.step, createGunzip(), target);
  } catch (error) {
    const reason = codeOf(error) ?? (error as Error).message;
    if (isUnavailable(error))
      throw new StartError(
        `The database has ended the restore (${reason}). Nothing was restored. Try again.`,
      );
    throw damaged(file, reason); // A message of Postgres may quote a row.
  }
  if (target.rowCount !== rows) throw damaged(file, `it has ${target.rowCount} rows, not ${rows}`);
  if (read.digest() !== sha256) throw damaged(file, 'its SHA-256 differs');
}

function damaged(file: string, reason: string): StartError {
  return new StartError(
    `${file} cannot be restored (${reason}). Nothing was restored. Take another copy of the backup.`,
  );
}
