import { Command } from 'commander';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { ClientError } from '../access/clients/client-error';
import { beginEpoch, Recovered, restoreFromCopies } from '../journal/recovery';
import { readStops } from '../journal/stops';
import { loadConfigOf } from '../platform/config/config';
import { EpochFile, epochFileIn } from '../platform/database/epoch-file';
import { IS_ELSEWHERE } from '../platform/database/epoch-comparison';
import { PrismaService } from '../platform/database/prisma.service';
import { changedByOperator } from './changed-by';
import { confirm } from './confirm';
import { withPrisma } from './database';
import { print } from './output';
import { Progress } from './progress';

interface RecoverOptions {
  reason: string;
  from?: string[];
  withoutStop?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Of these, each DATA_DIR has at least one. */
const IN_DATA_DIR = ['copies', 'epoch.json', 'log-key.json', 'checkpoints'];

const HELP = `
Run this after the database came back from the past (a restored backup, or a failover to a standby that lagged behind) and the
proxy has stopped itself. The command restores the calls that the database lacks, with their keys and amounts, from the copies in
DATA_DIR/copies of each instance. Calls whose outcome was not copied are then in doubt, and are settled by the upstream's list.
The command moves CHECKPOINT_FILE and the checkpoints in the given folders aside, because the log goes on from an older state, and
begins the next epoch. It can be repeated. Payments stay stopped until a person lifts the stop.

Examples:
  npm run cli -- database recover --reason "restored the backup of 02:00"
  npm run cli -- database recover --from /mnt/proxy-1 /mnt/proxy-2 --reason "failover to the standby" --yes --json
  npm run cli -- stop list`;

export function recoverCommand(): Command {
  return new Command('recover')
    .description('restore what an old database lacks, and begin the next epoch')
    .requiredOption('--reason <text>', 'what happened, for the activity log')
    .option('--from <folders...>', 'DATA_DIRs of all instances (default: the own DATA_DIR)')
    .option('--without-stop', 'recover although no instance has found the database to be behind')
    .option('--yes', 'do not ask for a confirmation')
    .option('--json', 'print JSON: {"epoch", "calls", "outcomes", "approvals", "unreadable", "stop_id"}')
    .addHelpText('after', HELP)
    .action((options: RecoverOptions) => withPrisma((prisma) => recover(prisma, options)));
}

async function recover(prisma: PrismaService, options: RecoverOptions): Promise<void> {
  const { dataDir, checkpointFile } = loadConfigOf('database');
  const folders = options.from ?? [dataDir];
  for (const folder of folders) {
    if (!existsSync(folder))
      throw new ClientError(`There is no folder ${folder}. Give the DATA_DIRs of all instances.`);
    if (!IN_DATA_DIR.some((name) => existsSync(join(folder, name))))
      throw new ClientError(`${folder} is no DATA_DIR of a proxy. Give the DATA_DIRs of all instances.`);
  }
  const seen = Math.max(
    ...[...folders, dataDir].map((folder) => new EpochFile(epochFileIn(folder)).read()?.epoch ?? 0),
  );
  const stop = (await readStops(prisma)).find(({ cause }) => cause === 'database_behind');
  if (!stop && !options.withoutStop && !(await isElsewhere(prisma))) {
    throw new ClientError(
      'No instance has found the database to be behind, so there is nothing to recover. If you know that commits are missing, add --without-stop.',
    );
  }
  await confirm(`This restores calls from ${folders.join(', ')} and begins a new epoch.`, options.yes);
  const progress = new Progress('lines');
  const recovered = await restoreFromCopies(prisma, folders, (lines) => progress.at(lines));
  progress.end();
  const { actor } = changedByOperator(options.reason);
  const epoch = await beginEpoch(prisma, { reason: options.reason, actor, seen });
  const checkpoints = [dataDir, ...folders].map((folder) => join(folder, 'checkpoints'));
  for (const file of new Set([...checkpoints, ...(checkpointFile === undefined ? [] : [checkpointFile])]))
    moveAside(file, epoch);
  const result = { epoch, ...recovered, stop_id: stop?.id ?? null };
  print(options.json ? result : forPeople(recovered, epoch, stop?.id), options.json);
}

/** Whether instances without evidence wait for somebody to say that nothing is missing on this server. */
async function isElsewhere(prisma: PrismaService): Promise<boolean> {
  const [row] = await prisma.$queryRawUnsafe<[{ elsewhere: boolean }]>(`SELECT ${IS_ELSEWHERE} AS elsewhere`);
  return row.elsewhere;
}

/**
 * The old checkpoints are the evidence of what was lost. The log goes on from an older state, and begins a new file. An
 * instance whose file covers more leaves than the log has does not seal.
 */
function moveAside(file: string, epoch: number): void {
  if (!existsSync(file)) return;
  try {
    renameSync(file, `${file}.before-epoch-${epoch}`);
  } catch (error) {
    const { code } = error as { code?: string };
    process.stderr.write(`${file} cannot be moved (${code}). Move it aside before its instance starts.\n`);
  }
}

function forPeople(recovered: Recovered, epoch: number, stopId: string | undefined) {
  const next = stopId === undefined ? 'nothing is stopped' : `check the calls in doubt, then run stop lift ${stopId}`;
  return { ...recovered, epoch, next };
}
