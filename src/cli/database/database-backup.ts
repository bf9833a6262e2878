import { Command } from 'commander';
import type { BackupOptions } from './back-up';

const HELP = `
The backup is a folder: the rows of all tables from one snapshot, the key and the checkpoints of the log, and
backup.json, which describes them. The proxy keeps serving. An incomplete folder has another name.

The backup has people's data and the key that signs the log. Only its owner may read it. Encrypt it before
you store it elsewhere.

With --without-tables, the backup has only what pg_dump and a point-in-time recovery lack: logins and their
roles, and the key and the checkpoints of the log.

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
    .action(async (folder: string, options: BackupOptions) =>
      (await import('./back-up.js')).backUp(folder, options),
    );
}
