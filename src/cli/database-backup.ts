import { Command } from 'commander';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientError } from '../access/clients/client-error';
import { loadConfigOf } from '../platform/config/config';
import { writePrivateJson } from '../platform/config/private-file';
import { Manifest, MANIFEST, newManifest } from '../platform/database/backup/manifest';
import { writeSnapshot } from '../platform/database/backup/snapshot';
import { backUpFiles } from './backup-files';
import { withOwner } from './database';
import { print } from './output';
import { Progress } from './progress';

interface BackupOptions {
  withoutTables?: boolean;
  json?: boolean;
}

const HELP = `
The backup is a folder: the rows of all tables from one snapshot, the key and the checkpoints of the log, and backup.json, which
describes them. The proxy goes on meanwhile. The folder appears under its name only when it is complete.

The backup has people's data and the key that signs the log. Only its owner may read it. Encrypt it before you store it elsewhere.

With --without-tables, the backup has only what pg_dump and a point-in-time recovery lack: logins and their roles, and the key and
the checkpoints of the log.

Examples:
  npm run cli -- database backup /backups/2026-11-24
  npm run cli -- database backup /backups/2026-11-24 --without-tables --json`;

export function backupCommand(): Command {
  return new Command('backup')
    .description('back up the records and the key of the log to a folder')
    .argument('<folder>', 'a new folder')
    .option('--without-tables', 'leave out the rows, which another tool backs up')
    .option('--json', 'print JSON: {"folder", "taken_at", "tables", "rows", "epoch", "sealed_size", "files"}')
    .addHelpText('after', HELP)
    .action(backUp);
}

async function backUp(folder: string, options: BackupOptions): Promise<void> {
  if (existsSync(folder)) throw new ClientError(`${folder} exists already. Give the name of a new folder.`);
  const partial = `${folder}.partial`;
  try {
    await rm(partial, { recursive: true, force: true }); // of an interrupted backup
    await mkdir(partial, { recursive: true, mode: 0o700 });
    await writeBackup(folder, partial, options);
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined); // the disk may be full
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new ClientError(`${folder} cannot be written (${code}). There is no backup. Give a folder on another disk.`);
  }
}

/** @throws NodeJS.ErrnoException if the folder cannot be written. */
async function writeBackup(folder: string, partial: string, options: BackupOptions): Promise<void> {
  const progress = new Progress('rows');
  await withOwner(async (ownerUrl) => {
    const files = await backUpFiles(partial, loadConfigOf('database'));
    const withTables = !options.withoutTables;
    const snapshot = await writeSnapshot(ownerUrl, partial, {
      withTables,
      onProgress: (rows, of) => progress.at(rows, of),
    });
    progress.end();
    const manifest = newManifest({ ...snapshot, files });
    writePrivateJson(join(partial, MANIFEST), manifest);
    await rename(partial, folder);
    print(summaryOf(folder, manifest), options.json);
  });
}

function summaryOf(folder: string, { taken_at, tables, epoch, sealed_size, files }: Manifest) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return { folder, taken_at, tables: tables.length, rows, epoch, sealed_size, files: files.map(({ name }) => name) };
}
