import { PrismaService } from '../database/prisma.service';
import { asRecorded, proseAsRecorded } from '../privacy/recorded';
import { commitment, hex, newSalt } from './commitment';
import { NewOutcome, NewTry } from './records';

/**
 * Writes outcomes, the transactions they name and the answers' bytes, and gives back what was reserved for what was not
 * paid: one statement, one commit.
 */
export async function insertOutcomes(prisma: PrismaService, outcomes: NewOutcome[]): Promise<void> {
  const rows = outcomes.map((outcome) => ({ outcome, salt: newSalt() }));
  const outcomeRows = JSON.stringify(rows.map(({ outcome, salt }) => outcomeRow(outcome, salt)));
  const itemRows = JSON.stringify(outcomes.flatMap(itemRowsOf));
  const bodyRows = JSON.stringify(
    rows
      .filter(({ outcome }) => outcome.body !== null)
      .map(({ outcome, salt }) => ({ intent_id: outcome.intentId, salt: hex(salt), body: hex(outcome.body) })),
  );
  // A row that is there already was committed by a batch whose answer got lost.
  await prisma.$executeRaw`
    -- prepared as insert_outcomes
    WITH outcomes AS (
      INSERT INTO outcome (intent_id, kind, failure, upstream_status, content_type, retry_after, body_commitment, sent_at,
        answered_at, upstream_ms, answer_of, attempts, tries)
      SELECT intent_id, kind, failure, upstream_status, content_type, retry_after, body_commitment, sent_at,
        answered_at, upstream_ms, answer_of, attempts, tries
      FROM json_populate_recordset(NULL::outcome, ${outcomeRows}::json) ON CONFLICT DO NOTHING
      RETURNING intent_id, kind
    ), items AS (
      INSERT INTO outcome_item (intent_id, ordinal, position, chi_ref, upstream_id, issue_id, status, amount_usd)
      SELECT intent_id, ordinal, position, chi_ref, upstream_id, issue_id, status, amount_usd
      FROM json_populate_recordset(NULL::outcome_item, ${itemRows}::json) ON CONFLICT DO NOTHING
    ), bodies AS (
      INSERT INTO outcome_body (intent_id, salt, body)
      SELECT intent_id, salt, body FROM json_populate_recordset(NULL::outcome_body, ${bodyRows}::json)
      ON CONFLICT DO NOTHING
    )
    SELECT release_reservations(array_agg(intent_id)) FROM outcomes WHERE kind IN ('rejected', 'notSent')
    HAVING count(*) > 0`;
}

function outcomeRow(outcome: NewOutcome, salt: Buffer) {
  return {
    intent_id: outcome.intentId,
    kind: outcome.kind,
    failure: outcome.failure,
    upstream_status: outcome.upstreamStatus,
    content_type: asRecorded(outcome.contentType),
    retry_after: outcome.retryAfter,
    body_commitment: hex(commitment(salt, outcome.body)),
    sent_at: outcome.sentAt,
    answered_at: outcome.answeredAt,
    upstream_ms: outcome.upstreamMs.toFixed(3),
    answer_of: outcome.answerOf,
    attempts: outcome.attempts,
    tries: outcome.tries.map(tryRow),
  };
}

/** Its members in canonical order, for it is kept as it is written here. */
function tryRow({ failure, ms, phase, startedAt, status }: NewTry) {
  return { failure, ms: ms.toFixed(3), phase, started_at: startedAt, status };
}

/** What is not known is left out: a call may have a thousand of them. */
function itemRowsOf({ intentId, items }: NewOutcome) {
  return items.map((item, ordinal) => ({
    intent_id: intentId,
    ordinal,
    position: item.position ?? undefined,
    chi_ref: asRecorded(item.chiRef) ?? undefined,
    upstream_id: asRecorded(item.upstreamId) ?? undefined,
    issue_id: asRecorded(item.issueId) ?? undefined,
    status: proseAsRecorded(item.status) ?? undefined,
    amount_usd: item.amountUsd?.toFixed(),
  }));
}
