import { Logger } from '@nestjs/common';
import { Entry } from '../operations/settlement';
import { Timeouts } from '../platform/config/upstream-timeouts';
import { PrismaService } from '../platform/database/prisma.service';
import { isUnavailable } from '../platform/database/unavailable';
import { OutcomeDocument } from './documents';
import { abandonedAmong, LateAnswer, settleByAnswer } from './late-answers';
import { CopiedLine } from './local-copies';
import { OutcomeSpool, spoolFolder } from './outcome-spool';
import { insertKeptOutcome } from './outcomes';

const logger = new Logger('Journal');

/** What became of the files in DATA_DIR/outcomes. */
interface RestoredOutcomes {
  /** Calls that had no outcome and have one now. */
  outcomes: number;
  /** Files that could not be read, or whose outcome the database does not take. */
  unreadable: number;
}

/**
 * Writes the outcomes that proxies could not write to the database, from the given DATA_DIRs. Nobody else reads the files
 * of an instance that is gone. They stay in place, so this can be repeated. Call it after the calls were restored: an
 * outcome without its call is skipped.
 */
export async function restoreSpooledOutcomes(
  prisma: PrismaService,
  dataDirs: string[],
  timeouts: Timeouts,
): Promise<RestoredOutcomes> {
  const restored: RestoredOutcomes = { outcomes: 0, unreadable: 0 };
  for (const dataDir of dataDirs) {
    const spool = new OutcomeSpool(spoolFolder(dataDir));
    for (const id of await spool.ids()) {
      try {
        const outcome = await spool.read(id);
        const written = outcome && (await insertKeptOutcome(prisma, outcome, timeouts));
        if (written?.isNew) restored.outcomes += 1;
      } catch (error) {
        if (isUnavailable(error)) throw error;
        logger.error({ call_id: id }, 'spooled outcome not restored');
        restored.unreadable += 1;
      }
    }
  }
  return restored;
}

/**
 * Settles calls by their copied outcomes. An older database may have had a call without its outcome, and the call may have
 * been given up and settled before its copy was found. What was confirmed since may be known better than by its answer.
 */
export async function settleByCopies(prisma: PrismaService, lines: CopiedLine[], timeouts: Timeouts): Promise<void> {
  const records = lines.flatMap((line) => (line.kind === 'outcome' ? [line.record] : []));
  const ids = records.map(({ intent_id: id }) => id);
  const abandoned = await abandonedAmong(prisma, ids);
  if (abandoned.size === 0) return;
  const confirmed = await prisma.settlement.findMany({
    where: { intentId: { in: [...abandoned] }, resolution: 'confirmed' },
    select: { intentId: true },
  });
  const known = new Set(confirmed.map(({ intentId }) => intentId));
  for (const record of records) {
    if (!abandoned.has(record.intent_id) || known.has(record.intent_id)) continue;
    await settleByAnswer(prisma, toAnswer(record), timeouts);
  }
}

function toAnswer({ intent_id: intentId, kind, entries, items = [] }: OutcomeDocument): LateAnswer {
  return {
    intentId,
    kind: kind as LateAnswer['kind'],
    entries: entries as Entry | Entry[] | undefined,
    items: items.map(({ position = null, upstream_ref, upstream_id, batch_ref, status }) => ({
      position,
      upstreamRef: upstream_ref ?? null,
      upstreamId: upstream_id ?? null,
      batchRef: batch_ref ?? null,
      status: status ?? null,
    })),
  };
}
