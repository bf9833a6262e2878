import { Prisma } from '../../platform/database/generated/client';
import { roundedUsd } from './pairing/agreement';

/** Returns the parts of canonical keys that all spellings share. */
const loose = (keys: Prisma.Sql) =>
  Prisma.sql`ARRAY(SELECT loose_name(key) FROM unnest(${keys}) AS keys(key))`;
const NAMES_OF_ITEM = loose(Prisma.sql`recipient_keys(r.email, r.phone, r.handle, i.receiver)`);
const NAMES_SHOWN = loose(Prisma.sql`array_remove(ARRAY[t.email, t.phone, t.handle, t.receiver], NULL)`);

/**
 * `answered`: the transactions left whose names the answer to a call has, and which are like an item of that
 * call. They are of no other call. They are `surplus` if each payout of the call has another transaction.
 */
export const makeAnswered = (account: string): Prisma.Sql[] => [
  Prisma.sql`DROP TABLE IF EXISTS answered`,
  Prisma.sql`CREATE TEMP TABLE answered AS
  WITH unplaced AS MATERIALIZED (
    SELECT * FROM book_transaction
    WHERE call_id IS NULL AND answered_call IS NOT NULL AND account = ${account}
  )
  SELECT DISTINCT t.n, i.intent_id AS call_id,
    i.intent_id NOT IN (SELECT call_id FROM unmatched_ours) AS surplus
  FROM (
    SELECT t.n, b.answered_call FROM unplaced b JOIN unmatched_theirs t USING (upstream_ref)
    WHERE b.variant = 0
    UNION
    SELECT t.n, b.answered_call FROM unplaced b JOIN unmatched_theirs t USING (upstream_id)
  ) AS named
  JOIN unmatched_theirs t USING (n)
  JOIN intent q ON q.id = named.answered_call
  JOIN compared_operation c ON c.operation = q.operation AND (t.type IS NULL OR t.type = c.type)
  JOIN intent_item i ON i.intent_id = q.id
  LEFT JOIN item_recipient r ON r.intent_id = i.intent_id AND r.position = i.position
  CROSS JOIN LATERAL (SELECT ${NAMES_OF_ITEM} AS ours, ${NAMES_SHOWN} AS theirs) AS names
  WHERE abs(i.amount_usd - t.usd) <= coalesce(t.fee, 0) + ${roundedUsd(Prisma.sql`t.usd`)}
    AND (names.ours && names.theirs OR names.ours = '{}' OR names.theirs = '{}')`,
  Prisma.sql`ANALYZE answered`,
];

/** Drops pairs with a transaction of another call. */
export const DROP_ANSWERED = Prisma.sql`
  DELETE FROM pg_temp.found USING answered a, unmatched_ours o
  WHERE found.t = a.n AND o.n = found.o AND o.call_id <> a.call_id`;
