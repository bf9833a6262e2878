import { Rows } from '../platform/database/rows';
import { PrismaService } from '../platform/database/prisma.service';
import { statesThat } from '../operations/lifecycle';
import { newSalt } from './commitment';
import { stampedSql, writeOutcome } from './documents';
import { NewOutcome } from './records';

/** Outcomes with the bytes of their answers. */
const OUTCOMES = new Rows<{ outcome: NewOutcome; salt: Buffer }>([
  ['intent_id', 'uuid', ({ outcome }) => outcome.intentId],
  ['kind', 'text', ({ outcome }) => outcome.kind],
  ['upstream_status', 'integer', ({ outcome }) => outcome.upstreamStatus],
  ['upstream_ms', 'numeric', ({ outcome }) => (outcome.answerOf === null ? outcome.upstreamMs.toFixed(3) : null)],
  ['sent_at', 'timestamptz', ({ outcome }) => outcome.sentAt],
  ['answered_at', 'timestamptz', ({ outcome }) => outcome.answeredAt],
  ['record', 'text', ({ outcome, salt }) => writeOutcome(outcome, salt)],
  ['salt', 'bytea', ({ salt }) => salt],
  ['body', 'bytea', ({ outcome }) => outcome.body],
]);

/** The outcomes that release a reservation. */
const NOT_EXECUTED = statesThat(({ executed }) => executed === 'no')
  .map((state) => `'${state}'`)
  .join(', ');

const insertion = (name: string, ifNew: string) => `-- prepared as ${name}
  WITH answers AS MATERIALIZED (
    ${OUTCOMES.source}
  ), outcomes AS (
    INSERT INTO outcome (intent_id, kind, upstream_status, upstream_ms, sent_at, answered_at, recorded_at, record)
    SELECT intent_id, kind, upstream_status, upstream_ms, sent_at, answered_at, now, ${stampedSql('record', 'now')}
    FROM answers, (SELECT clock_timestamp() AS now) AS clock ${ifNew}
    RETURNING intent_id, kind
  ), bodies AS (
    INSERT INTO outcome_body (intent_id, salt, body)
    SELECT intent_id, salt, body FROM answers WHERE body IS NOT NULL ${ifNew}
  )
  SELECT release_reservations(array_agg(intent_id)) FROM outcomes WHERE kind IN (${NOT_EXECUTED})
  HAVING count(*) > 0`;

const INSERT = insertion('insert_outcomes', '');
// An existing row was committed by a batch whose answer was lost.
const INSERT_IF_NEW = insertion('insert_outcomes_again', 'ON CONFLICT DO NOTHING');

/**
 * Writes outcomes with their answers, and releases the reservations of unpaid calls: one statement, one commit.
 * @param again whether they may have been written before.
 */
export async function insertOutcomes(prisma: PrismaService, outcomes: NewOutcome[], again: boolean): Promise<void> {
  const values = OUTCOMES.values(outcomes.map((outcome) => ({ outcome, salt: newSalt() })));
  if (again) await prisma.prepared('insert_outcomes_again', INSERT_IF_NEW, values);
  else await prisma.prepared('insert_outcomes', INSERT, values);
}
