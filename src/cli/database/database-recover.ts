import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { IS_ELSEWHERE } from '../../continuity/epoch/epoch-comparison';
import { EpochFile, epochFileIn } from '../../continuity/epoch/epoch-file';
import { RecoveryReport, restoreFromCopies } from '../../journal/recovery/recovery';
import { RecoveryGap, beginEpoch } from '../../journal/stops/recovery-gap';
import { insertStopOfAll, readStops } from '../../journal/stops/stops';
import { loadConfigOf } from '../../platform/config/config';
import { accountNames } from '../../platform/config/upstream/upstream-accounts';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { codeOf } from '../../platform/errors/error-code';
import { settingsOf } from '../../reconciliation/book/plan';
import { print } from '../output';
import { confirm, Progress } from '../terminal';
import { changedByOperator, withPrisma } from './database';

interface RecoverOptions {
  reason: string;
  from?: string[];
  since?: string;
  force?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Entries of a DATA_DIR. A used one has at least one of them. */
const DATA_DIR_ENTRIES = ['copies', 'outcomes', 'epoch.json', 'log-key.json', 'checkpoints'];

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
    .action((options: RecoverOptions) => withPrisma((prisma) => recover(prisma, options)));
}

async function recover(prisma: PrismaService, options: RecoverOptions): Promise<void> {
  const config = loadConfigOf('runs');
  const { dataDir, checkpointFile } = config;
  const since = readSince(options.since);
  const { actor } = changedByOperator(options.reason);
  const folders = options.from ?? [dataDir];
  for (const folder of folders) {
    if (!existsSync(folder))
      throw new ClientError(`There is no folder ${folder}. Give the DATA_DIRs of all instances.`);
    // This machine's DATA_DIR may be new, such as after the loss of a container.
    if (folder !== dataDir && !DATA_DIR_ENTRIES.some((name) => existsSync(join(folder, name))))
      throw new ClientError(`${folder} is no DATA_DIR of a proxy. Give the DATA_DIRs of all instances.`);
  }
  const seen = Math.max(
    ...[...folders, dataDir].map((folder) => new EpochFile(epochFileIn(folder)).read()?.epoch ?? 0),
  );
  const isBehind = (await readStops(prisma)).some(({ cause }) => cause === 'database_behind');
  if (!isBehind && !options.force && !(await isElsewhere(prisma))) {
    throw new ClientError(
      'No instance has found the database to be behind, so there is nothing to recover. If you know ' +
        'that commits are missing, add --force.',
    );
  }
  const plan = `This stops everything, restores calls from ${folders.join(', ')} and begins a new epoch.`;
  await confirm(plan, options.yes);
  // The stop comes before the next epoch, which ends the fences. So no client pays before the recovery gap is
  // read. An instance or a restore may have added the stop already.
  const { id: stopId } = await insertStopOfAll(prisma, `The database is being recovered: ${options.reason}`);
  const progress = new Progress('lines');
  const recovered = await restoreFromCopies(prisma, folders, config, (lines) => progress.at(lines));
  progress.end();
  const { number: epoch, lost } = await beginEpoch(prisma, {
    reason: options.reason,
    actor,
    seen,
    reading: { settings: settingsOf(config), since, accounts: accountNames(config) },
  });
  const checkpoints = [dataDir, ...folders].map((folder) => join(folder, 'checkpoints'));
  for (const file of new Set([...checkpoints, ...(checkpointFile === undefined ? [] : [checkpointFile])]))
    moveAside(file, epoch);
  const reading = { run_id: lost?.runId ?? null, lost_from: lost?.from ?? null, lost_to: lost?.to ?? null };
  const result = { epoch, ...recovered, ...reading, stop_id: stopId };
  print(options.json ? result : forPeople(recovered, { epoch, lost }, stopId), options.json);
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;

function readSince(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const since = new Date(text);
  if (!INSTANT.test(text) || Number.isNaN(since.getTime()))
    throw new ClientError('--since must be an instant such as 2026-11-24T02:00:00Z.');
  return since;
}

/** Returns whether instances without evidence wait for an operator to confirm this server. */
async function isElsewhere(prisma: PrismaService): Promise<boolean> {
  const [row] = await prisma.$queryRawUnsafe<[{ elsewhere: boolean }]>(`SELECT ${IS_ELSEWHERE} AS elsewhere`);
  return row.elsewhere;
}

/**
 * Keeps the old checkpoints as evidence of the loss. The log continues from an older state in a new file. An
 * instance does not seal if its file covers more leaves than the log has.
 */
function moveAside(file: string, epoch: number): void {
  if (!existsSync(file)) return;
  try {
    renameSync(file, `${file}.before-epoch-${epoch}`);
  } catch (error) {
    process.stderr.write(
      `${file} cannot be moved (${codeOf(error)}). Move it aside before its instance starts.\n`,
    );
  }
}

function forPeople(
  recovered: RecoveryReport,
  { epoch, lost }: { epoch: number; lost: RecoveryGap | null },
  stopId: string,
) {
  const runs = lost ? [lost.runId, ...lost.otherRuns] : [];
  const wait = runs.length > 0 ? [`wait for the runs ${runs.join(', ')}`, 'decide their findings'] : [];
  const next = [...wait, `check the calls in doubt, then run stop lift ${stopId}`].join(', ');
  return {
    ...recovered,
    epoch,
    lost_from: lost?.from ?? null,
    lost_to: lost?.to ?? null,
    run_id: lost?.runId ?? null,
    next,
  };
}
