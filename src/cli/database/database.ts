import { Command } from 'commander';
import { backupCommand } from './database-backup';
import { recoverCommand } from './database-recover';
import { restoreCommand } from './database-restore';
import { replicateSearchCommand } from './database-search';
import type { MigrateOptions } from './migrate';

const MIGRATE_HELP = `
A start applies the same migrations if MIGRATE_ON_START is true, the default outside production. No other
command applies migrations. A migration retries its locks and never waits long for them, because payments
would wait behind it. With --dry-run, the command changes nothing and exits with code 1 if migrations are
pending. Without DATABASE_URL, it also covers the database of the embedded sandbox.

Examples:
  npm run cli -- database migrate --dry-run
  npm run cli -- database migrate
  npm run cli -- database migrate --json`;

const STATUS_HELP = `
Exit codes: 1 if a migration is pending, or if a role or right is missing, else 0.

Examples:
  npm run cli -- database status --json`;

export function databaseCommands(): Command {
  const summary = 'migrate, check, back up, restore and recover the database';
  const database = new Command('database').description(summary);
  database
    .command('url')
    .description("print the connection string of the proxy's role, or of the owner with --owner")
    .option('--owner', 'connection string of the owner')
    .addHelpText('after', '\nExamples:\n  psql "$(npm run -s cli -- database url)"')
    .action(async (options: { owner?: boolean }) => (await import('./connection.js')).printUrl(options));
  database
    .command('migrate')
    .description('apply pending migrations')
    .option('--dry-run', 'list pending migrations, and change nothing')
    .option('--json', 'print JSON: {"applied"}, or {"pending"} with --dry-run')
    .addHelpText('after', MIGRATE_HELP)
    .action(async (options: MigrateOptions) => (await import('./migrate.js')).migrateDatabase(options));
  database
    .command('status')
    .description('check the server, list migrations, and check roles and rights')
    .option('--json', 'print JSON')
    .addHelpText('after', STATUS_HELP)
    .action(async (options: { json?: boolean }) => (await import('./migrate.js')).showStatus(options));
  return database
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(recoverCommand())
    .addCommand(replicateSearchCommand());
}
