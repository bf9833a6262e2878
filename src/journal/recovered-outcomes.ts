import { Logger } from '@nestjs/common';
import { Entry } from '../operations/settlement';
import { Timeouts } from '../platform/config/upstream-timeouts';
import { PrismaService } from '../platform/database/prisma.service';
import { isUnavailable } from '../platform/database/unavailable';
import { OutcomeDocument, IntentDocument } from './documents';
import { abandonedAmong, LateAnswer, settleByAnswer } from './late-answers';
import { CopiedLine } from './local-copies';
import { OutcomeSpool, spoolFolder } from './spooled-outcomes';
import { insertKeptOutcome } from './outcomes';
import { Decimal } from 'decimal.js';
import { Prisma } from '../platform/database/generated/client';
import { abandon } from './settlements';
import { reserveForPayers } from './payers';

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

/** A copied approval of a call that the database says was rejected. */
interface Contradicted {
  record: string;
  reservedOn: string | null;
}

/**
 * Puts calls in doubt that were rejected after their approvals were lost: whoever rejected them did not know that they had
 * been sent. The copies of their outcomes, or the upstream's list, settle them. They count on the caps of the day of the
 * approval for good, because the decision on record has no day on which a reservation could be given back.
 * @param approvals what `CopiedLine` says about approvals.
 */
export async function doubtRejected(
  tx: Prisma.TransactionClient,
  approvals: { intent_id: string; reserved_on: string | null }[],
): Promise<void> {
  const rejected = await tx.$queryRaw<Contradicted[]>`
    SELECT i.record, a.reserved_on::text AS "reservedOn"
    FROM json_to_recordset(${JSON.stringify(approvals)}::json) AS a(intent_id uuid, reserved_on date)
    JOIN decision d ON d.intent_id = a.intent_id AND d.kind = 'rejected' JOIN intent i ON i.id = a.intent_id
    WHERE NOT EXISTS (SELECT FROM outcome o WHERE o.intent_id = a.intent_id)`;
  for (const { record, reservedOn } of rejected) {
    const intent = JSON.parse(record) as IntentDocument;
    if (!(await abandon(tx, intent))) continue;
    await tx.$executeRaw`
      INSERT INTO spending (client_id, day, usd)
      SELECT client_id, ${reservedOn}::date, total_usd + coalesce(expected_fee_usd, 0) FROM intent
      WHERE id = ${intent.id}::uuid AND total_usd IS NOT NULL AND ${reservedOn}::date IS NOT NULL
      ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd`;
    const usd = new Decimal(intent.total_usd ?? 0).plus(intent.expected_fee_usd ?? 0);
    if (intent.total_usd !== undefined && reservedOn !== null) await reserveForPayers(tx, intent.id, reservedOn, usd);
    logger.warn({ call_id: intent.id }, 'a rejected call had been approved before, and is in doubt');
  }
}
