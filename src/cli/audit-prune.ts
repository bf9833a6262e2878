import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { loadConfigOf } from '../platform/config/config';
import { endsBefore, MIN_DAYS } from '../history/retention/months';
import { prune, Pruned, PruneWish } from '../history/retention/prune';
import { confirm } from './confirm';
import { print } from './output';
import { RetentionOptions, withRetention } from './retention';

const HELP = `
Lets whole months (UTC) go: with --people-only what was sent and answered and to whom, else the calls themselves. Calls that are
in doubt, in progress or waiting for an approval stay, with their keys. What the upstream and statements said goes along; with
--people-only, only whom it names. What proves the months, the seals, stays, and so do runs and findings. A month goes only if
all of it is sealed, and if the latest checkpoint that is kept outside of the database covers it. What was pruned is on record.

Examples:
  npm run cli -- audit prune --older-than 13mo --reason "retention" --dry-run
  npm run cli -- audit prune --older-than 400d --people-only --reason "retention" --checkpoint /mnt/witness/checkpoints --yes`;

type PruneOptions = RetentionOptions & { olderThan: string; peopleOnly?: boolean; checkpoint?: string };

export function auditPruneCommand(): Command {
  return new Command('prune')
    .description('let old months go')
    .requiredOption('--older-than <age>', `months that ended so long ago: 400d or 13mo, ${MIN_DAYS} days at least`)
    .requiredOption('--reason <text>', 'why; it is kept for good')
    .option('--people-only', 'only bodies and recipients')
    .option('--checkpoint <file>', 'the checkpoints that are kept outside of the database (default: CHECKPOINT_FILE)')
    .option('--actor <id>', 'who does this, by an id')
    .option('--dry-run', 'only say what would go')
    .option('--yes', 'do not ask')
    .option('--json', 'for machines: [{"month","calls","kept"}]')
    .addHelpText('after', HELP)
    .action(run);
}

async function run(options: PruneOptions): Promise<void> {
  const before = endsBefore(options.olderThan, new Date());
  if (!before) throw new ClientError(`--older-than must be days or months (400d, 13mo), ${MIN_DAYS} days at least`);
  const checkpointFile = options.checkpoint ?? loadConfigOf('database').checkpointFile;
  if (checkpointFile === undefined) throw new ClientError('give the file of the kept checkpoints with --checkpoint');
  await withRetention(options, async (db, wish) => {
    const wishes: PruneWish = { ...wish, before, checkpointFile, what: options.peopleOnly ? 'people' : 'calls' };
    const due = await prune(db, wishes, true, () => undefined);
    if (!options.dryRun) {
      const months = due.map(({ month }) => month).join(', ');
      if (due.length > 0) await confirm(`${due.length} months (${months}) will go for good.`, options.yes);
      await prune(db, wishes, false, (month) => tell(month, options));
    }
    if (options.json || options.dryRun) print(due, options.json);
    else if (due.length === 0) process.stdout.write('no month is old enough, or all that are have gone\n');
  });
}

function tell({ month, calls, kept }: Pruned, { json, peopleOnly }: PruneOptions): void {
  if (json) return;
  const what = peopleOnly ? `bodies and recipients of ${calls} calls` : `${calls} calls`;
  process.stdout.write(`${month}: ${what} pruned${kept > 0 ? `, ${kept} kept that are not over` : ''}\n`);
}
