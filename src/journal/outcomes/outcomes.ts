import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { Column, Rows } from '../../platform/database/rows/rows';
import { newSalt } from '../../platform/privacy/commitment';
import { namesSql, stampedSql } from '../records/document-sql';
import { writeOutcome } from '../records/documents';
import { NewOutcome } from '../records/records';
import { abandonedAmong, settleByAnswer } from '../settlement/settled-by-upstream';

interface OutcomeRow {
  outcome: NewOutcome;
  record: string;
  salt: Buffer;
}

const MEMBERS: Column<OutcomeRow>[] = [
  ['intent_id', 'uuid', ({ outcome }) => outcome.intentId],
  ['kind', 'text', ({ outcome }) => outcome.kind],
  ['upstream_status', 'integer', ({ outcome }) => outcome.upstreamStatus],
  [
    'upstream_ms',
    'numeric',
    ({ outcome }) => (outcome.answerOf === null ? outcome.upstreamMs.toFixed(3) : null),
  ],
  ['sent_at', 'timestamptz', ({ outcome }) => outcome.sentAt],
  ['answered_at', 'timestamptz', ({ outcome }) => outcome.answeredAt],
  ['counted_usd', 'numeric', ({ outcome }) => outcome.countedUsd],
];
/** The columns of `outcome` that repeat a member. */
export const OUTCOME_COLUMNS = MEMBERS.map(([name, type]) => ({ name, type }));

/** Outcomes with the bytes of their answers. */
const OUTCOMES = new Rows<OutcomeRow>([
  ...MEMBERS,
  ['record', 'text', ({ record }) => record],
  ['salt', 'bytea', ({ salt }) => salt],
  ['body', 'bytea', ({ outcome }) => outcome.body],
]);

const insertion = (name: string, ifNew: string) => `-- prepared as ${name}
  WITH answers AS MATERIALIZED (
    ${OUTCOMES.source}
  ), outcomes AS (
    INSERT INTO outcome (${namesSql(OUTCOME_COLUMNS)}, recorded_at, record)
    SELECT ${namesSql(OUTCOME_COLUMNS)}, now, ${stampedSql('record', 'now')}
    FROM answers, (SELECT clock_timestamp() AS now) AS clock ${ifNew}
    RETURNING intent_id, counted_usd
  ), bodies AS (
    INSERT INTO outcome_body (intent_id, salt, body)
    SELECT intent_id, salt, body FROM answers
      WHERE body IS NOT NULL ${ifNew && `AND intent_id IN (SELECT intent_id FROM outcomes) ${ifNew}`}
  )
  SELECT adjust_spending(array_agg(intent_id), array_agg(NULL::numeric), array_agg(counted_usd)) FROM outcomes
  WHERE counted_usd IS NOT NULL HAVING count(*) > 0`;

const INSERT = insertion('insert_outcomes', '');
// An existing row was committed by a batch whose answer was lost, or marks an abandoned call. Its record then
// has no commitment to the body.
const INSERT_IF_NEW = insertion('insert_outcomes_again', 'ON CONFLICT DO NOTHING');

/**
 * Writes outcomes with their answers, and adjusts the spending by their unpaid amounts and extra costs: one
 * statement, one commit.
 * @returns their records.
 */
export async function insertOutcomes(prisma: PrismaService, outcomes: NewOutcome[]): Promise<string[]> {
  const rows = toRows(outcomes);
  await prisma.prepared('insert_outcomes', INSERT, OUTCOMES.values(rows));
  return rows.map(({ record }) => record);
}

/** Writes outcomes that may exist. An answer to a call that was settled before becomes a settlement. */
export async function insertOutcomesAgain(
  prisma: PrismaService,
  outcomes: NewOutcome[],
  timeouts: Timeouts,
): Promise<string[]> {
  const rows = toRows(outcomes);
  await prisma.prepared('insert_outcomes_again', INSERT_IF_NEW, OUTCOMES.values(rows));
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

function toRows(outcomes: NewOutcome[]): OutcomeRow[] {
  return outcomes.map((outcome) => {
    const salt = newSalt();
    return { outcome, salt, record: writeOutcome(outcome, salt) };
  });
}
