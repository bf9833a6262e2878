import { Prisma } from '../../platform/database/generated/client';
import { Ids } from './ours';

/** The rows without a partner. All rules after the first work on these tables, which are usually small. */

export const MAKE_PAIRS = Prisma.sql`
  CREATE TEMP TABLE pair (o integer NOT NULL, t bigint NOT NULL, rule text NOT NULL, certainty text NOT NULL);
  CREATE TEMP TABLE found (LIKE pair);
  CREATE TEMP TABLE far_call (call_id uuid PRIMARY KEY)`;

/** The rows that the first rule left, which are few. To look for each row among the pairs would take twice as long. */
export const MAKE_LEFT = Prisma.sql`
  CREATE TEMP TABLE left_ours AS
  SELECT * FROM ours WHERE upstream_ref IS NULL OR n IN (SELECT o FROM candidate WHERE t IS NULL UNION ALL SELECT o FROM twice);
  CREATE TEMP TABLE left_theirs AS SELECT theirs.*, NULL::text AS key FROM theirs
  WHERE upstream_ref IS NULL OR n IN (SELECT t FROM candidate WHERE o IS NULL UNION ALL SELECT t FROM twice);
  DELETE FROM pg_temp.left_ours USING pair, twice WHERE left_ours.n = pair.o AND pair.o = twice.o;
  DELETE FROM pg_temp.left_theirs USING pair, twice WHERE left_theirs.n = pair.t AND pair.t = twice.t;
  ANALYZE left_ours; ANALYZE left_theirs`;

/**
 * `left_name`: the names in the answers to calls with unmatched payments, even if it is uncertain which payment they
 * name.
 */
export const makeNames = ({ low, high }: Ids) => [
  Prisma.sql`DROP TABLE IF EXISTS left_name`,
  Prisma.sql`CREATE TEMP TABLE left_name AS
  SELECT x.intent_id AS call_id, x.upstream_ref, x.upstream_id, x.batch_ref FROM outcome_item x
    JOIN run_call c ON c.call_id = x.intent_id AND c.answered
  WHERE x.intent_id IN (SELECT call_id FROM left_ours) AND x.intent_id BETWEEN ${low}::uuid AND ${high}::uuid
  UNION
  SELECT call_id, upstream_ref, upstream_id, batch_ref FROM run_evidence WHERE call_id IN (SELECT call_id FROM left_ours)`,
  Prisma.sql`ANALYZE left_name`,
];

/** Makes the matches of a rule final. No later rule looks at these rows. */
export const SETTLE = Prisma.sql`
  INSERT INTO pg_temp.pair SELECT * FROM found;
  DELETE FROM pg_temp.left_ours USING found WHERE left_ours.n = found.o;
  DELETE FROM pg_temp.left_theirs USING found WHERE left_theirs.n = found.t;
  TRUNCATE found`;

/**
 * Of the names of a transaction's recipient, the one that an unmatched payment of ours has. Email comes before phone,
 * handle and user ID.
 */
export const NAME_THEIRS = Prisma.sql`
  UPDATE pg_temp.left_theirs t SET key = k.key
  FROM (
    SELECT n, coalesce(
      min(email) FILTER (WHERE email = known), min(phone) FILTER (WHERE phone = known),
      min(handle) FILTER (WHERE handle = known), min(receiver) FILTER (WHERE receiver = known)) AS key
    FROM (
      SELECT t.n, t.email, t.phone, t.handle, t.receiver, o.key AS known
      FROM left_theirs t CROSS JOIN LATERAL (VALUES (t.email), (t.phone), (t.handle), (t.receiver)) AS named(key)
      JOIN (SELECT DISTINCT key FROM left_ours) AS o ON o.key = named.key
    ) AS names GROUP BY n
  ) AS k WHERE k.n = t.n;
  ANALYZE left_theirs`;
