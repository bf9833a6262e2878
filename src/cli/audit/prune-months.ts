import { ClientError } from '../../access/clients/client-error';
import { endsBefore, MIN_DAYS } from '../../history/retention/months';
import { prune, PruneResult, PruneRequest } from '../../history/retention/prune';
import { loadConfigOf } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { print } from '../output';
import { confirm } from '../terminal';
import { RetentionOptions, withRetention } from './with-retention';

export type PruneOptions = RetentionOptions & {
  olderThan: string;
  peopleOnly?: boolean;
  checkpoint?: string;
};

export async function pruneMonths(options: PruneOptions): Promise<void> {
  const checkpointFile = options.checkpoint ?? loadConfigOf('database').checkpointFile;
  if (checkpointFile === undefined)
    throw new ClientError('No checkpoint file is configured. Give the file with --checkpoint.');
  await withRetention(options, async (db, wish) => {
    const before = endsBefore(options.olderThan, clock.now());
    if (!before)
      throw new ClientError(
        `--older-than must be a number of days or months (400d, 13mo), at least ${MIN_DAYS} days.`,
      );
    const request: PruneRequest = {
      ...wish,
      before,
      checkpointFile,
      what: options.peopleOnly ? 'people' : 'calls',
    };
    const due = await prune(db, request, true, () => undefined);
    if (!options.dryRun) {
      const months = due.map(({ month }) => month).join(', ');
      const question = `This permanently deletes ${due.length} months (${months}).`;
      if (due.length > 0) await confirm(question, options.yes);
      await prune(db, request, false, (month) => printMonth(month, options));
    }
    if (options.json || options.dryRun) print(due, options.json);
    else if (due.length === 0)
      process.stdout.write('No month is old enough, or all old months were already deleted.\n');
  });
}

function printMonth({ month, calls, kept }: PruneResult, { json, peopleOnly }: PruneOptions): void {
  if (json) return;
  const pruned = peopleOnly ? `bodies and recipients of ${calls} calls` : `${calls} calls`;
  const rest = kept > 0 ? `, ${kept} kept because they have no final outcome` : '';
  process.stdout.write(`${month}: ${pruned} pruned${rest}\n`);
}
