import { Prisma } from '../../platform/database/generated/client';
import { Ids } from './ours';

/**
 * Rules that match by identifiers: upstream_ref, upstream_id, batch_ref, reference. Each rule processes the
 * rows left by earlier rules, as sets, and fills `found`. All rules after the first process `left_ours` and
 * `left_theirs`, the rows without a partner, which are usually few.
 */

export const MAKE_PAIRS = Prisma.sql`
  CREATE TEMP TABLE pair (o integer NOT NULL, t bigint NOT NULL, rule text NOT NULL, certainty text NOT NULL);
  CREATE TEMP TABLE found (LIKE pair);
  CREATE TEMP TABLE distant_call (call_id uuid PRIMARY KEY)`;

/**
 * The rows left by the first rule, which are few. A lookup of each row among the pairs would take twice as
 * long.
 */
const MAKE_LEFT = Prisma.sql`
  CREATE TEMP TABLE left_ours AS
  SELECT * FROM ours WHERE upstream_ref IS NULL
    OR n IN (SELECT o FROM candidate WHERE t IS NULL UNION ALL SELECT o FROM twice);
  CREATE TEMP TABLE left_theirs AS SELECT theirs.*, NULL::text AS key FROM theirs
  WHERE upstream_ref IS NULL OR n IN (SELECT t FROM candidate WHERE o IS NULL UNION ALL SELECT t FROM twice);
  DELETE FROM pg_temp.left_ours USING pair, twice WHERE left_ours.n = pair.o AND pair.o = twice.o;
  DELETE FROM pg_temp.left_theirs USING pair, twice WHERE left_theirs.n = pair.t AND pair.t = twice.t;
  ANALYZE left_ours; ANALYZE left_theirs`;

/**
 * `left_name`: names in the answers to calls with unmatched payments, even if it is uncertain which payment
 * they name.
 */
const makeNames = ({ low, high }: Ids) => [
  Prisma.sql`DROP TABLE IF EXISTS left_name`,
  Prisma.sql`CREATE TEMP TABLE left_name AS
  SELECT x.intent_id AS call_id, x.upstream_ref, x.upstream_id, x.batch_ref FROM outcome_item x
    JOIN run_call c ON c.call_id = x.intent_id AND c.answered
  WHERE x.intent_id IN (SELECT call_id FROM left_ours) AND x.intent_id BETWEEN ${low}::uuid AND ${high}::uuid
  UNION
  SELECT call_id, upstream_ref, upstream_id, batch_ref FROM run_evidence
    WHERE call_id IN (SELECT call_id FROM left_ours)`,
  Prisma.sql`ANALYZE left_name`,
];

/** Makes the matches of a rule final. Later rules skip these rows. */
export const SETTLE = Prisma.sql`
  INSERT INTO pg_temp.pair SELECT * FROM found;
  DELETE FROM pg_temp.left_ours USING found WHERE left_ours.n = found.o;
  DELETE FROM pg_temp.left_theirs USING found WHERE left_theirs.n = found.t;
  TRUNCATE found`;

/**
 * Sets `key` to the name that an unmatched payment of ours has: email, phone, handle or user ID, in this
 * order.
 */
const NAME_THEIRS = Prisma.sql`
  UPDATE pg_temp.left_theirs t SET key = k.key
  FROM (
    SELECT n, coalesce(
      min(email) FILTER (WHERE email = known), min(phone) FILTER (WHERE phone = known),
      min(handle) FILTER (WHERE handle = known), min(receiver) FILTER (WHERE receiver = known)) AS key
    FROM (
      SELECT t.n, t.email, t.phone, t.handle, t.receiver, o.key AS known
      FROM left_theirs t CROSS JOIN LATERAL (VALUES (t.email), (t.phone), (t.handle),
        (t.receiver)) AS named(key)
      JOIN (SELECT DISTINCT key FROM left_ours) AS o ON o.key = named.key
    ) AS names GROUP BY n
  ) AS k WHERE k.n = t.n;
  ANALYZE left_theirs`;

/** Order in which our rows that look alike get a partner. Payments with moved money come first. */
const OURS_FIRST = Prisma.sql`tier, at, call_id, position`;
const THEIRS_FIRST = Prisma.sql`word = 'not', at NULLS LAST, n`;

/**
 * Matches rows with the same identifier. `candidate` has the possible pairs, and with a FULL JOIN also the
 * rows whose identifier the other side lacks.
 * @param which rows to read: first all, later those without a partner.
 */
function bySameName(rule: 'upstream_ref' | 'upstream_id', which: 'all' | 'left' = 'left'): Prisma.Sql[] {
  const [ours, theirs, join, into] =
    which === 'all'
      ? [Prisma.sql`ours`, Prisma.sql`theirs`, Prisma.sql`FULL JOIN`, Prisma.sql`pair`]
      : [Prisma.sql`left_ours`, Prisma.sql`left_theirs`, Prisma.sql`JOIN`, Prisma.sql`found`];
  const column = Prisma.raw(rule);
  const [o, t] = [Prisma.sql`o`, Prisma.sql`t`];
  const inOrder = (side: Prisma.Sql, table: Prisma.Sql, order: Prisma.Sql) => Prisma.sql`(
    SELECT n, ${column} AS name, row_number() OVER (PARTITION BY ${column} ORDER BY ${order}) AS place
    FROM ${table} WHERE n IN (SELECT ${side} FROM twice))`;
  // Sorting a million numbers takes half as long as counting each.
  const repeated = (side: Prisma.Sql) =>
    Prisma.sql`SELECT ${side} FROM (SELECT ${side}, lag(${side}) OVER (ORDER BY ${side}) AS before
      FROM candidate) AS s WHERE ${side} = before`;
  return [
    Prisma.sql`DROP TABLE IF EXISTS candidate, twice`,
    Prisma.sql`CREATE TEMP TABLE candidate AS SELECT o.n AS o, t.n AS t
    FROM (SELECT * FROM ${ours} WHERE ${column} IS NOT NULL) AS o ${join} (SELECT * FROM ${theirs}
      WHERE ${column} IS NOT NULL) AS t USING (${column})`,
    // Identifiers that several rows of a side share. They should not exist, and are handled separately.
    Prisma.sql`CREATE TEMP TABLE twice AS SELECT o, t FROM candidate WHERE o IN (${repeated(o)})
      OR t IN (${repeated(t)})`,
    Prisma.sql`INSERT INTO pg_temp.${into}
    SELECT o, t, ${rule}, 'certain' FROM candidate WHERE o IS NOT NULL AND t IS NOT NULL
      AND o NOT IN (SELECT o FROM twice)`,
    Prisma.sql`INSERT INTO pg_temp.${into}
    SELECT o.n, t.n, ${rule}, 'certain'
    FROM ${inOrder(o, ours, OURS_FIRST)} AS o
      JOIN ${inOrder(t, theirs, THEIRS_FIRST)} AS t USING (name, place)`,
  ];
}

/** Columns of ours and of theirs that must be equal. Null excludes a row. */
type Equal = [ours: Prisma.Sql, theirs: Prisma.Sql];

interface Ranked {
  rule: 'batch_ref' | 'reference';
  theirs: Prisma.Sql;
  equal: Equal[];
  /** Certainty with one row on each side, and with several interchangeable rows. */
  certainty: { single: Prisma.Sql | string; several: string };
  /** Whether to match only one row on each side. */
  singleOnly?: boolean;
}

/** Names of the columns that must be equal. */
const NAMES = [Prisma.sql`g0`, Prisma.sql`g1`, Prisma.sql`g2`];

/** Pairs equal rows by time, which gives as many as possible a partner. */
function byRank({ rule, theirs, equal, certainty, singleOnly }: Ranked): Prisma.Sql {
  const used = NAMES.slice(0, equal.length);
  const names = Prisma.join(used);
  const ranked = (table: Prisma.Sql, columns: Prisma.Sql[], order: Prisma.Sql) => Prisma.sql`(
    SELECT s.*, row_number() OVER same AS place, count(*) OVER (PARTITION BY ${names}) AS many
    FROM (SELECT *, ${Prisma.join(used.map((name, place) => Prisma.sql`${columns[place]} AS ${name}`))}
      FROM ${table} AS s) AS s
    WHERE num_nulls(${names}) = 0
    WINDOW same AS (PARTITION BY ${names} ORDER BY ${order}))`;
  const columns = (side: 0 | 1) => equal.map((pair) => pair[side]);
  const single = Prisma.sql`o.many = 1 AND t.many = 1`;
  return Prisma.sql`
    INSERT INTO pg_temp.found
    SELECT o.n, t.n, ${rule}, CASE WHEN ${single} THEN ${certainty.single} ELSE ${certainty.several} END
    FROM ${ranked(Prisma.sql`left_ours`, columns(0), OURS_FIRST)} AS o
    JOIN ${ranked(theirs, columns(1), THEIRS_FIRST)} AS t USING (${names}, place)
    ${singleOnly ? Prisma.sql`WHERE ${single}` : Prisma.empty}`;
}

/** `of_call`: transactions that the answer to one call names without assigning them to a payment. */
const MAKE_OF_CALL = Prisma.sql`
  DROP TABLE IF EXISTS of_call;
  -- Later rules match transactions that two calls name, because their owner is unclear.
  CREATE TEMP TABLE of_call AS
  SELECT n, min(call_id::text)::uuid AS of_call
  FROM (
    SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.batch_ref = t.batch_ref
    UNION SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.upstream_ref = t.upstream_ref
    UNION SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.upstream_id = t.upstream_id
  ) AS named GROUP BY n HAVING count(*) = 1;
  ANALYZE of_call`;

const both = (column: Prisma.Sql): Equal => [column, column];
const KEY = both(Prisma.sql`key`);
const USD = both(Prisma.sql`usd`);
const REFERENCE = both(Prisma.sql`reference`);
const OF_CALL: Equal = [Prisma.sql`call_id`, Prisma.sql`of_call`];
const ERASED: Equal = [Prisma.sql`CASE WHEN key IS NULL THEN 'erased' END`, Prisma.sql`'erased'::text`];

const sameBatch = (equal: Equal[], singleOnly = false) =>
  byRank({
    rule: 'batch_ref',
    theirs: Prisma.sql`(SELECT * FROM left_theirs JOIN of_call USING (n))`,
    equal: [OF_CALL, ...equal],
    certainty: { single: 'certain', several: 'probable' },
    singleOnly,
  });

/** Same recipient and amount, then same amount for erased people, then a single row left on each side. */
const BY_BATCH = [sameBatch([KEY, USD]), sameBatch([USD, ERASED]), sameBatch([], true)];

const IF_SAME_RECIPIENT = Prisma.sql`CASE WHEN o.key IN (t.email, t.phone, t.handle,
  t.receiver) THEN 'certain' ELSE 'probable' END`;

const sameReference = (equal: Equal[], single: Prisma.Sql | string = IF_SAME_RECIPIENT, singleOnly = false) =>
  byRank({
    rule: 'reference',
    theirs: Prisma.sql`left_theirs`,
    equal: [REFERENCE, ...equal],
    certainty: { single, several: 'possible' },
    singleOnly,
  });

/**
 * First, a reference that only one row of each side has. A shared reference proves little, so the other
 * fields decide. Rows with different recipients and amounts are not matched.
 */
const BY_REFERENCE = [
  sameReference([], IF_SAME_RECIPIENT, true),
  sameReference([KEY, USD]),
  sameReference([USD], 'possible'),
  sameReference([KEY], 'probable'),
];

/** The first rules, over all rows. They create the tables of the remaining rows. */
export const matchAll = (ids: Ids) => [
  MAKE_PAIRS,
  ...bySameName('upstream_ref', 'all'),
  Prisma.sql`ANALYZE pair`,
  MAKE_LEFT,
  ...bySameName('upstream_id'),
  SETTLE,
  ...makeNames(ids),
];

/** All rules, over the remaining rows. */
export const MATCH_LEFT = [
  ...[bySameName('upstream_ref'), bySameName('upstream_id')].flatMap((rule) => [...rule, SETTLE]),
  NAME_THEIRS,
  MAKE_OF_CALL,
  ...[...BY_BATCH, ...BY_REFERENCE].flatMap((rule) => [rule, SETTLE]),
];
