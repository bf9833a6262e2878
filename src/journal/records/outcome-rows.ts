import { Prisma } from '../../platform/database/generated/client';
import { Column, Rows } from '../../platform/database/rows/rows';
import { StoredBytes, toStored } from '../../platform/database/rows/stored-body';
import { newSalt } from '../../platform/privacy/commitment';
import { namesSql, stampedSql } from './document-sql';
import { writeOutcome } from './documents';
import { NewOutcome } from './records';

interface OutcomeRow {
  outcome: NewOutcome;
  record: string;
  salt: Buffer;
  stored: StoredBytes | null;
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
export const OUTCOMES = new Rows<OutcomeRow>([
  ...MEMBERS,
  ['record', 'text', ({ record }) => record],
  ['salt', 'bytea', ({ salt }) => salt],
  ['body', 'bytea', ({ stored }) => stored?.body],
  ['coding', 'text', ({ stored }) => stored?.coding],
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
    INSERT INTO outcome_body (intent_id, salt, body, coding)
    SELECT intent_id, salt, body, coding FROM answers
      WHERE body IS NOT NULL ${ifNew && `AND intent_id IN (SELECT intent_id FROM outcomes) ${ifNew}`}
  )
  SELECT adjust_spending(array_agg(intent_id), array_agg(NULL::numeric), array_agg(counted_usd))::text
  FROM outcomes
  WHERE counted_usd IS NOT NULL HAVING count(*) > 0`;

export const INSERT_OUTCOMES = insertion('insert_outcomes', '');
// An existing row was committed by a batch whose answer was lost, or marks an abandoned call. Its record then
// has no commitment to the body.
export const INSERT_OUTCOMES_IF_NEW = insertion('insert_outcomes_again', 'ON CONFLICT DO NOTHING');

/** Writes outcomes within a transaction. @returns their records. */
export async function insertOutcomesWithin(
  tx: Prisma.TransactionClient,
  outcomes: NewOutcome[],
): Promise<string[]> {
  const rows = toOutcomeRows(outcomes);
  await tx.$queryRawUnsafe(INSERT_OUTCOMES, ...OUTCOMES.values(rows));
  return rows.map(({ record }) => record);
}

export function toOutcomeRows(outcomes: NewOutcome[]): OutcomeRow[] {
  return outcomes.map((outcome) => {
    const salt = newSalt();
    const stored = outcome.body && toStored(outcome.body);
    return { outcome, salt, record: writeOutcome(outcome, salt), stored };
  });
}
