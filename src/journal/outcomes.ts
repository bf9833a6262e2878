import { Rows } from '../platform/database/rows';
import { PrismaService } from '../platform/database/prisma.service';
import { asRecorded, proseAsRecorded } from '../platform/privacy/recorded';
import { statesThat } from '../operations/lifecycle';
import { commitment, newSalt } from './commitment';
import { NewOutcome, NewTry, UpstreamItem } from './records';

/** Outcomes with the bytes of their answers. */
const OUTCOMES = new Rows<{ outcome: NewOutcome; salt: Buffer }>([
  ['intent_id', 'uuid', ({ outcome }) => outcome.intentId],
  ['kind', 'text', ({ outcome }) => outcome.kind],
  ['failure', 'text', ({ outcome }) => outcome.failure],
  ['upstream_status', 'integer', ({ outcome }) => outcome.upstreamStatus],
  ['content_type', 'text', ({ outcome }) => asRecorded(outcome.contentType)],
  ['retry_after', 'integer', ({ outcome }) => outcome.retryAfter],
  ['body_commitment', 'bytea', ({ outcome, salt }) => commitment(salt, outcome.body)],
  ['sent_at', 'timestamptz', ({ outcome }) => outcome.sentAt],
  ['answered_at', 'timestamptz', ({ outcome }) => outcome.answeredAt],
  ['upstream_ms', 'numeric', ({ outcome }) => outcome.upstreamMs.toFixed(3)],
  ['answer_of', 'uuid', ({ outcome }) => outcome.answerOf],
  ['attempts', 'integer', ({ outcome }) => outcome.attempts],
  ['tries', 'json', ({ outcome }) => JSON.stringify(outcome.tries.map(tryRow))],
  ['salt', 'bytea', ({ salt }) => salt],
  ['body', 'bytea', ({ outcome }) => outcome.body],
]);

const ITEMS = new Rows<{ intentId: string; ordinal: number; item: UpstreamItem }>(
  [
    ['intent_id', 'uuid', ({ intentId }) => intentId],
    ['ordinal', 'integer', ({ ordinal }) => ordinal],
    ['position', 'integer', ({ item }) => item.position],
    ['upstream_ref', 'text', ({ item }) => asRecorded(item.upstreamRef)],
    ['upstream_id', 'text', ({ item }) => asRecorded(item.upstreamId)],
    ['batch_ref', 'text', ({ item }) => asRecorded(item.batchRef)],
    ['status', 'text', ({ item }) => proseAsRecorded(item.status)],
    ['amount_usd', 'numeric', ({ item }) => item.amountUsd?.toFixed()],
  ],
  OUTCOMES.next,
);

/** The outcomes that release a reservation. */
const NOT_EXECUTED = statesThat(({ executed }) => executed === 'no')
  .map((state) => `'${state}'`)
  .join(', ');

// An existing row was committed by a batch whose answer was lost.
const INSERT = `
  WITH answers AS MATERIALIZED (
    ${OUTCOMES.source}
  ), outcomes AS (
    INSERT INTO outcome (intent_id, kind, failure, upstream_status, content_type, retry_after, body_commitment, sent_at,
      answered_at, upstream_ms, answer_of, attempts, tries)
    SELECT intent_id, kind, failure, upstream_status, content_type, retry_after, body_commitment, sent_at,
      answered_at, upstream_ms, answer_of, attempts, tries
    FROM answers ON CONFLICT DO NOTHING
    RETURNING intent_id, kind
  ), items AS (
    INSERT INTO outcome_item (intent_id, ordinal, position, upstream_ref, upstream_id, batch_ref, status, amount_usd)
    ${ITEMS.source} ON CONFLICT DO NOTHING
  ), bodies AS (
    INSERT INTO outcome_body (intent_id, salt, body)
    SELECT intent_id, salt, body FROM answers WHERE body IS NOT NULL ON CONFLICT DO NOTHING
  )
  SELECT release_reservations(array_agg(intent_id)) FROM outcomes WHERE kind IN (${NOT_EXECUTED})
  HAVING count(*) > 0`;

/**
 * Writes outcomes with their transactions and answers, and releases the reservations of unpaid calls: one statement,
 * one commit.
 */
export async function insertOutcomes(prisma: PrismaService, outcomes: NewOutcome[]): Promise<void> {
  const rows = outcomes.map((outcome) => ({ outcome, salt: newSalt() }));
  const items = outcomes.flatMap(({ intentId, items }) => items.map((item, ordinal) => ({ intentId, ordinal, item })));
  await prisma.prepared('insert_outcomes', INSERT, [...OUTCOMES.values(rows), ...ITEMS.values(items)]);
}

/** Returns the fields in canonical order, because they are stored as they are written here. */
function tryRow({ failure, ms, phase, startedAt, status }: NewTry) {
  return { failure, ms: ms.toFixed(3), phase, started_at: startedAt, status };
}
