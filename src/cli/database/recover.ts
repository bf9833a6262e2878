import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
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
import { changedByOperator } from '../operator';
import { print } from '../output';
import { confirm, Progress } from '../terminal';
import { withServices } from './services';

export interface RecoverOptions {
  reason: string;
  from?: string[];
  since?: string;
  force?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Entries of a DATA_DIR. A used one has at least one of them. */
const DATA_DIR_ENTRIES = ['copies', 'outcomes', 'epoch.json', 'log-key.json', 'checkpoints'];

export function recover(options: RecoverOptions): Promise<void> {
  return withServices(({ prisma }) => recoverDatabase(prisma, options));
}

async function recoverDatabase(prisma: PrismaService, options: RecoverOptions): Promise<void> {
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
