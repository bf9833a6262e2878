import { Command } from 'commander';
import type { RecoverOptions } from './recover';

const HELP = `
Run this command when the database lost its newest commits (a restored backup, or a failover to a lagging
standby) and the proxy has stopped itself. The command restores the missing calls, with their keys and
amounts, from the copies in DATA_DIR/copies of each instance. Calls without a copied outcome are in doubt
until the upstream's list settles them.

The command begins the next epoch. It moves CHECKPOINT_FILE and the checkpoints in the given folders aside,
because the log continues from an older state. It ends sessions, ephemeral keys and access tokens, so all
persons sign in again. It can be repeated.

Only the upstream knows a payment without a copy. So the command also starts a reconciliation run of the
recovery gap: from ten minutes before the newest call in the database, or from --since if that is earlier. A
worker carries it out. Everything is stopped before the first call is restored, until the run has read the
upstream's list completely and a person has lifted the stop.

Examples:
  npm run cli -- database recover --reason "restored the backup of 02:00"
  npm run -s cli -- database recover --from /mnt/proxy-1 /mnt/proxy-2 --reason "failover" --yes --json
  npm run cli -- database recover --since 2026-11-24T02:00:00Z --reason "restored the backup of 02:00"
  npm run cli -- reconcile --run <run_id>
  npm run cli -- stop lift <stop_id>`;

export function recoverCommand(): Command {
  return new Command('recover')
    .description('restore the missing calls of an old database, and begin the next epoch')
    .requiredOption('--reason <text>', 'cause, for the activity log and for refused clients')
    .option('--from <folders...>', 'DATA_DIRs of all instances (default: the own DATA_DIR)')
    .option('--since <instant>', 'start of the recovery gap, such as the time of the backup')
    .option('--force', 'recover although no instance has found the database to be behind')
    .option('--yes', 'skip the confirmation')
    .option(
      '--json',
      'print JSON: {"epoch", "calls", "outcomes", "approvals", "unreadable", "run_id", "lost_from", ' +
        '"lost_to", "stop_id"}',
    )
    .addHelpText('after', HELP)
    .action(async (options: RecoverOptions) => (await import('./recover.js')).recover(options));
}
