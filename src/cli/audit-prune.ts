import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { clock } from '../platform/database/clock';
import { loadConfigOf } from '../platform/config/config';
import { endsBefore, MIN_DAYS } from '../history/retention/months';
import { prune, Pruned, PruneWish } from '../history/retention/prune';
import { confirm } from './terminal';
import { print } from './output';
import { RetentionOptions, withRetention } from './retention';

const HELP = `
Deletes whole months (UTC) of the history. By default, the command deletes the calls, together with the upstream's listings and
the statements of the month. With --people-only, it deletes only bodies, recipients, and the people that listings and statements
name. Calls that are in doubt, in progress, or pending approval stay, with their keys. Seals, runs, and findings stay, so
the remaining history can still be verified. A month is deleted only if it is completely sealed and the latest checkpoint stored
outside the database covers it. Each deletion is recorded.

Examples:
  npm run cli -- audit prune --older-than 13mo --reason "retention" --dry-run
  npm run cli -- audit prune --older-than 400d --people-only --reason "retention" --checkpoint /mnt/witness/checkpoints --yes`;

type PruneOptions = RetentionOptions & { olderThan: string; peopleOnly?: boolean; checkpoint?: string };

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
    .option('--actor <id>', 'ID of the person who runs this command (default: the user of the operating system)')
    .option('--dry-run', 'show what would be deleted, and change nothing')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON: [{"month","calls","kept"}]')
    .addHelpText('after', HELP)
    .action(run);
}

async function run(options: PruneOptions): Promise<void> {
  const checkpointFile = options.checkpoint ?? loadConfigOf('database').checkpointFile;
  if (checkpointFile === undefined)
    throw new ClientError('No checkpoint file is configured. Give the file with --checkpoint.');
  await withRetention(options, async (db, wish) => {
    const before = endsBefore(options.olderThan, clock.now());
    if (!before)
      throw new ClientError(`--older-than must be a number of days or months (400d, 13mo), at least ${MIN_DAYS} days.`);
    const wishes: PruneWish = { ...wish, before, checkpointFile, what: options.peopleOnly ? 'people' : 'calls' };
    const due = await prune(db, wishes, true, () => undefined);
    if (!options.dryRun) {
      const months = due.map(({ month }) => month).join(', ');
      if (due.length > 0) await confirm(`This permanently deletes ${due.length} months (${months}).`, options.yes);
      await prune(db, wishes, false, (month) => tell(month, options));
    }
    if (options.json || options.dryRun) print(due, options.json);
    else if (due.length === 0)
      process.stdout.write('No month is old enough, or all old months were already deleted.\n');
  });
}

function tell({ month, calls, kept }: Pruned, { json, peopleOnly }: PruneOptions): void {
  if (json) return;
  const what = peopleOnly ? `bodies and recipients of ${calls} calls` : `${calls} calls`;
  process.stdout.write(
    `${month}: ${what} pruned${kept > 0 ? `, ${kept} kept because they have no final outcome` : ''}\n`,
  );
}
