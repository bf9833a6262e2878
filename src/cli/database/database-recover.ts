import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { IS_ELSEWHERE } from '../../continuity/epoch/epoch-comparison';
import { EpochFile, epochFileIn } from '../../continuity/epoch/epoch-file';
import { Recovered, restoreFromCopies } from '../../journal/recovery/recovery';
import { RecoveryGap, beginEpoch } from '../../journal/stops/recovery-gap';
import { insertStopOfAll, readStops } from '../../journal/stops/stops';
import { loadConfigOf } from '../../platform/config/config';
import { accountNames } from '../../platform/config/upstream/upstream-accounts';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { codeOf } from '../../platform/errors/error-code';
import { settingsOf } from '../../reconciliation/matching/plan';
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

/** Of these, each DATA_DIR of a proxy that has worked has at least one. */
const IN_DATA_DIR = ['copies', 'outcomes', 'epoch.json', 'log-key.json', 'checkpoints'];

const HELP = `
Run this after the database came back from the past (a restored backup, or a failover to a standby
that lagged behind) and the proxy has stopped itself. The command restores the calls that the
database lacks, with their keys and amounts, from the copies in DATA_DIR/copies of each instance.
Calls whose outcome was not copied are then in doubt, and are settled by the upstream's list. The
command moves CHECKPOINT_FILE and the checkpoints in the given folders aside, because the log goes
on from an older state, and begins the next epoch. It ends sessions, ephemeral keys and access
tokens, so everybody signs in again. It can be repeated.

A payment that no copy has is known to the upstream only. So the command also begins a
reconciliation run of the time whose payments may be missing: from ten minutes before the newest
call that the database has itself, or from --since if that is earlier. A worker carries it out.
Everything is stopped before the first call is restored. It stays stopped until the run has read the
upstream's list completely and a person has lifted the stop.

Examples:
  npm run cli -- database recover --reason "restored the backup of 02:00"
  npm run cli -- database recover --from /mnt/proxy-1 /mnt/proxy-2 --reason "failover to the standby" --yes --json
  npm run cli -- database recover --since 2026-11-24T02:00:00Z --reason "restored the backup of 02:00"
  npm run cli -- reconcile --run <run_id>
  npm run cli -- stop lift <stop_id>`;

export function recoverCommand(): Command {
  return new Command('recover')
    .description('restore what an old database lacks, and begin the next epoch')
    .requiredOption('--reason <text>', 'what happened, for the activity log and for refused clients')
    .option('--from <folders...>', 'DATA_DIRs of all instances (default: the own DATA_DIR)')
    .option(
      '--since <instant>',
      'time from which payments may be missing, such as that of the backup, if it is known',
    )
    .option('--force', 'recover although no instance has found the database to be behind')
    .option('--yes', 'do not ask for a confirmation')
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
    // The own one may be new, such as after the loss of a container with its DATA_DIR.
    if (folder !== dataDir && !IN_DATA_DIR.some((name) => existsSync(join(folder, name))))
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
  // In the epoch that ends, unless an instance or a restore did. Nobody pays between the beginning of the
  // next epoch, which ends the fences, and the reading of the lost time.
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

/** Whether instances without evidence wait for somebody to say that nothing is missing on this server. */
async function isElsewhere(prisma: PrismaService): Promise<boolean> {
  const [row] = await prisma.$queryRawUnsafe<[{ elsewhere: boolean }]>(`SELECT ${IS_ELSEWHERE} AS elsewhere`);
  return row.elsewhere;
}

/**
 * The old checkpoints are the evidence of what was lost. The log goes on from an older state, and begins a
 * new file. An instance whose file covers more leaves than the log has does not seal.
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
  recovered: Recovered,
  { epoch, lost }: { epoch: number; lost: RecoveryGap | null },
  stopId: string,
) {
  const runs = lost ? [lost.runId, ...lost.otherRuns] : [];
  const [first] = runs;
  const read =
    runs.length > 1
      ? `wait for the runs ${runs.join(', ')}, decide about their findings, `
      : first === undefined
        ? ''
        : `wait for the run ${first}, decide about its findings, `;
  const next = `${read}check the calls in doubt, then run stop lift ${stopId}`;
  return {
    ...recovered,
    epoch,
    lost_from: lost?.from ?? null,
    lost_to: lost?.to ?? null,
    run_id: lost?.runId ?? null,
    next,
  };
}
