import { Command } from 'commander';
import type { RestoreOptions } from './restore';

const HELP = `
The database must be empty: a restore never replaces anything. Without DATABASE_URL, the command creates an
embedded Postgres in DATA_DIR. It stops payments in the restored database, which lacks the payments since the
backup. Run database recover with the DATA_DIRs of all instances next, check the calls in doubt, and lift the
stop.

For a backup with --without-tables, first restore the tables with their own tool. This command then restores
the roles, their rights, and the key and checkpoints of the log, and stops payments.

Examples:
  npm run cli -- database restore /backups/2026-11-24
  DATABASE_URL=postgresql://... npm run cli -- database restore /backups/2026-11-24 --yes --json
  npm run cli -- database recover --from /mnt/proxy-1 /mnt/proxy-2 --reason "restored the backup of 02:00"`;

export function restoreCommand(): Command {
  return new Command('restore')
    .description('restore a backup into an empty database, and stop payments until it is recovered')
    .argument('<folder>', 'a folder of database backup')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON: {"taken_at", "tables", "rows", "epoch", "stop_id", "logins_missing"}')
    .addHelpText('after', HELP)
    .action(async (folder: string, options: RestoreOptions) =>
      (await import('./restore.js')).restore(folder, options),
    );
}
