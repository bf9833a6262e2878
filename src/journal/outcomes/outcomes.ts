import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { INSERT_OUTCOMES, INSERT_OUTCOMES_IF_NEW, OUTCOMES, toOutcomeRows } from '../records/outcome-rows';
import { NewOutcome } from '../records/records';
import { abandonedAmong, settleByAnswer } from '../settlement/settled-by-upstream';

/**
 * Writes outcomes with their answers, and adjusts the spending by their unpaid amounts and extra costs: one
 * statement, one commit.
 * @returns their records.
 */
export async function insertOutcomes(prisma: PrismaService, outcomes: NewOutcome[]): Promise<string[]> {
  const rows = toOutcomeRows(outcomes);
  await prisma.prepared('insert_outcomes', INSERT_OUTCOMES, OUTCOMES.values(rows));
  return rows.map(({ record }) => record);
}

/** Writes outcomes that may exist. An answer to a call that was settled before becomes a settlement. */
export async function insertOutcomesAgain(
  prisma: PrismaService,
  outcomes: NewOutcome[],
  timeouts: Timeouts,
): Promise<string[]> {
  const rows = toOutcomeRows(outcomes);
  await prisma.prepared('insert_outcomes_again', INSERT_OUTCOMES_IF_NEW, OUTCOMES.values(rows));
  const abandoned = await abandonedAmong(
    prisma,
    outcomes.map(({ intentId }) => intentId),
  );
  for (const outcome of outcomes)
    if (abandoned.has(outcome.intentId)) await settleByAnswer(prisma, outcome, timeouts);
  return rows.map(({ record }) => record);
}

/**
 * Writes an outcome that was kept outside the database, unless it exists. Restores nothing that was erased
 * since. The IDs in the record name no person.
 * @returns its record, and whether the call had no outcome. Undefined for an unknown call: of another
 * database, or pruned.
 */
export async function insertKeptOutcome(
  prisma: PrismaService,
  outcome: NewOutcome,
  timeouts: Timeouts,
): Promise<{ record: string; isNew: boolean } | undefined> {
  const [call] = await prisma.$queryRaw<{ isErased: boolean; isNew: boolean }[]>`
    SELECT b.body IS NULL AS "isErased",
      NOT EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id) AS "isNew"
    FROM intent i LEFT JOIN intent_body b ON b.intent_id = i.id WHERE i.id = ${outcome.intentId}::uuid`;
  if (!call) return undefined;
  const kept = call.isErased ? { ...outcome, body: null } : outcome;
  const [record] = await insertOutcomesAgain(prisma, [kept], timeouts);
  return { record: record!, isNew: call.isNew };
}
