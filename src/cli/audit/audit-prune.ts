import { Command } from 'commander';
import { Client } from 'pg';
import { ClientError } from '../../access/clients/client-error';
import { isPersonId } from '../../access/clients/sign-ins';
import { knownLogKeyOf, logRingOf } from '../../history/log/log-key';
import { newestNote, signerAfter } from '../../history/log/log-key-check';
import { KeyRing, Signer } from '../../history/log/note';
import { RemovalRequest } from '../../history/retention/erasures';
import { endsBefore, MIN_DAYS } from '../../history/retention/months';
import { prune, PruneResult, PruneRequest } from '../../history/retention/prune';
import { loadConfigOf, StartError } from '../../platform/config/config';
import { DATABASE_MS, clock } from '../../platform/database/clock';
import { ServerClient } from '../../platform/database/servers/server-client';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { changedByOperator, compareClock, withOwner } from '../database/database';
import { print } from '../output';
import { confirm } from '../terminal';

/** Options of the commands that delete from the history. */
export interface RetentionOptions {
  reason: string;
  actor?: string;
  yes?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/**
 * Runs work with the rights of the database's owner, because the proxy may not delete. The record names the
 * person in --actor, or else the user of the operating system.
 */
export async function withRetention(
  { reason, actor }: Pick<RetentionOptions, 'reason' | 'actor'>,
  work: (db: Client, wish: RemovalRequest) => Promise<void>,
): Promise<void> {
  const operator = changedByOperator(reason);
  if (actor !== undefined && !isPersonId(actor)) {
    throw new ClientError(
      '--actor must be 1 to 128 letters, digits and the characters _ . : = / -. Identify the person by an ' +
        'ID, not by a phone number.',
    );
  }
  await withOwner(async (ownerUrl) => {
    const ring = logRing();
    const db = new ServerClient({ connectionString: ownerUrl });
    await db.connect();
    try {
      await compareClock(
        async () => (await db.query<{ ms: number }, []>(DATABASE_MS)).rows as [{ ms: number }],
      );
      const signer = await ownSigner(db, ring);
      await work(db, { reason: proseAsRecorded(reason), actor: actor ?? operator.actor, signer, ring });
    } finally {
      await db.end();
    }
  });
}

function logRing(): KeyRing<Signer> {
  const config = loadConfigOf('database');
  const logSigningKey = knownLogKeyOf(config);
  if (!logSigningKey) {
    throw new StartError(
      'Deletions must be signed with the key of the log. Set LOG_SIGNING_KEY to the value of the proxy, or ' +
        'DATA_DIR to the directory with its own key.',
    );
  }
  return logRingOf({ ...config, logSigningKey });
}

/** Requires the key of the log. Deletions with another signature would look like tampering. */
async function ownSigner(db: Client, ring: KeyRing<Signer>): Promise<Signer> {
  const signer = signerAfter(await newestNote(db), ring);
  if (signer) return signer;
  throw new StartError(
    'LOG_SIGNING_KEY is not the key that signed the latest checkpoint of this database. Nothing was changed.',
  );
}

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
    .option('--actor <id>', 'ID of the person who runs this command (default: the user of the system)')
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
