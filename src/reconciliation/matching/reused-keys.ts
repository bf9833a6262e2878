import { Prisma } from '../../platform/database/generated/client';
import { EXECUTED } from '../../operations/lifecycle';
import { Ids } from './ours';
import { Plan } from './plan';

/** The record of an earlier program has the key itself. No text inside a JSON string contains this, because its quotes are escaped. */
const MARK = '"idempotency_key":"';
const KEY = Prisma.sql`CASE WHEN strpos(i.record, ${MARK}) > 0 THEN i.record::json ->> 'idempotency_key'
  ELSE scoped_key(i.person_id, i.record, b.idempotency_key) END`;

/** A key as claims have it. An erased one is hashed. */
const CLAIMED = Prisma.sql`c.client_id = k.client_id AND c.operation = k.operation AND c.key IN (k.key, hashed_key(k.key))`;

/**
 * Adds `key_paid_twice` for each executed call whose idempotency key another executed call of the client and operation
 * has. Our own records decide, so the upstream's listing may match both. A key is taken over only from a call that was
 * not executed by then, so this shows that a call was settled too early. The call that has the key now is not reported.
 */
export function addReusedKeys({ from, to }: Plan, { low, high }: Ids): Prisma.Sql[] {
  const inside = Prisma.sql`BETWEEN ${low}::uuid AND ${high}::uuid`;
  return [
    Prisma.sql`CREATE TEMP TABLE keyed AS
    SELECT c.call_id, c.operation, c.at, c.outcome, i.client_id, i.total_usd, ${KEY} AS key
    FROM run_call c JOIN intent i ON i.id = c.call_id AND i.id ${inside}
    LEFT JOIN intent_body b ON b.intent_id = c.call_id AND b.intent_id ${inside}
    WHERE c.outcome = ANY (${EXECUTED}::text[]) AND (b.idempotency_key IS NOT NULL OR strpos(i.record, ${MARK}) > 0)`,
    Prisma.sql`ANALYZE keyed`,
    Prisma.sql`INSERT INTO pg_temp.difference
    SELECT 'key_paid_twice', 'call/' || k.call_id || '/key', k.call_id, 0, NULL, NULL, NULL, NULL, k.at, 0,
      json_build_array(json_build_object('field', 'other_call_id', 'ours', k.other, 'theirs', NULL)),
      json_build_object('ours', json_build_object('call_id', k.call_id, 'position', 0, 'operation', k.operation, 'at', k.at,
        'amount_usd', trim_scale(k.total_usd)::text, 'outcome', k.outcome), 'theirs', NULL, 'match', NULL)
    FROM (
      SELECT *, first_value(call_id) OVER (PARTITION BY client_id, operation, hashed_key(key) ORDER BY keeps DESC, at, call_id) AS other
      FROM (
        SELECT k.*, c.intent_id IS NOT NULL AND c.intent_id = k.call_id AS keeps
        FROM keyed k LEFT JOIN idempotency_claim c ON ${CLAIMED}
        UNION ALL
        -- The call that has the key now may be of another period.
        SELECT s.call_id, s.operation, s.released_at, s.state, s.client_id, s.total_usd, k.key, TRUE
        FROM (
          SELECT DISTINCT c.intent_id, k.key FROM keyed k JOIN idempotency_claim c ON ${CLAIMED}
          WHERE c.intent_id <> k.call_id AND c.intent_id NOT IN (SELECT call_id FROM keyed)
        ) AS k JOIN call_state s ON s.call_id = k.intent_id AND s.state = ANY (${EXECUTED}::text[])
      ) AS calls
    ) AS k
    WHERE k.call_id <> k.other AND k.at >= ${from}::timestamptz AND k.at < ${to}::timestamptz`,
  ];
}
