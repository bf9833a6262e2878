import { Command } from 'commander';
import { MIN_DAYS } from '../../history/retention/months';
import type { PruneOptions } from './prune-months';

const HELP = `
Deletes whole months (UTC) of the history: the calls, the upstream's listings and the statements. With
--people-only, it deletes only bodies, recipients, and the people in listings and statements. Calls that are
in doubt, in progress, or pending approval stay, with their keys. Seals, runs, and findings stay, so the
remaining history can be verified. A month is deleted only if it is completely sealed and the latest
checkpoint outside the database covers it. Each deletion is recorded.

Examples:
  npm run cli -- audit prune --older-than 13mo --reason "retention" --dry-run
  npm run cli -- audit prune --older-than 400d --people-only --reason "retention" \\
    --checkpoint /mnt/witness/checkpoints --yes`;

export function auditPruneCommand(): Command {
  return new Command('prune')
    .description('delete old months from the history')
    .requiredOption(
      '--older-than <age>',
      `minimum age of a month, counted from its end: 400d or 13mo; at least ${MIN_DAYS} days`,
    )
    .requiredOption('--reason <text>', 'reason, which is kept forever')
    .option('--people-only', 'delete only bodies and recipients')
    .option('--checkpoint <file>', 'checkpoints stored outside the database (default: CHECKPOINT_FILE)')
    .option('--actor <id>', 'ID of the person who runs this command (default: the user of the system)')
    .option('--dry-run', 'show what would be deleted, and change nothing')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON: [{"month","calls","kept"}]')
    .addHelpText('after', HELP)
    .action(async (options: PruneOptions) => (await import('./prune-months.js')).pruneMonths(options));
}
