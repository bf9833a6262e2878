import { Prisma } from '../../platform/database/generated/client';
import { CallIdRange } from './ours';

/**
 * Rules that match by identifiers: upstream_ref, upstream_id, batch_ref, reference. Each rule processes the
 * rows left by earlier rules, as sets, and fills `found`. All rules after the first process the usually few
 * rows without a partner: `unmatched_ours` and `unmatched_theirs`.
 */

export const MAKE_PAIRS = Prisma.sql`
  CREATE TEMP TABLE pair (
    o integer NOT NULL, t bigint NOT NULL, rule text NOT NULL, certainty text NOT NULL);
  CREATE TEMP TABLE found (LIKE pair);
  CREATE TEMP TABLE distant_call (call_id uuid PRIMARY KEY)`;

/** Collects the few rows left by the first rule. Looking up each row among the pairs takes twice as long. */
const MAKE_UNMATCHED = Prisma.sql`
  CREATE TEMP TABLE unmatched_ours AS
  SELECT * FROM ours
  WHERE upstream_ref IS NULL OR n IN (SELECT o FROM candidate WHERE t IS NULL UNION ALL SELECT o FROM twice);
  CREATE TEMP TABLE unmatched_theirs AS
  SELECT theirs.*, NULL::text AS key FROM theirs
  WHERE upstream_ref IS NULL OR n IN (SELECT t FROM candidate WHERE o IS NULL UNION ALL SELECT t FROM twice);
  DELETE FROM pg_temp.unmatched_ours USING pair, twice
    WHERE unmatched_ours.n = pair.o AND pair.o = twice.o;
  DELETE FROM pg_temp.unmatched_theirs USING pair, twice
    WHERE unmatched_theirs.n = pair.t AND pair.t = twice.t;
  ANALYZE unmatched_ours; ANALYZE unmatched_theirs`;

/** `unmatched_name`: the names in the answers to calls with unmatched payments, of whichever payment. */
const makeNames = ({ low, high }: CallIdRange) => [
  Prisma.sql`DROP TABLE IF EXISTS unmatched_name`,
  Prisma.sql`CREATE TEMP TABLE unmatched_name AS
  SELECT x.intent_id AS call_id, x.upstream_ref, x.upstream_id, x.batch_ref
  FROM outcome_item x JOIN run_call c ON c.call_id = x.intent_id AND c.answered
  WHERE x.intent_id IN (SELECT call_id FROM unmatched_ours)
    AND x.intent_id BETWEEN ${low}::uuid AND ${high}::uuid
  UNION
  SELECT call_id, upstream_ref, upstream_id, batch_ref
  FROM run_evidence WHERE call_id IN (SELECT call_id FROM unmatched_ours)`,
  Prisma.sql`ANALYZE unmatched_name`,
];

/** Makes the matches of a rule final. Later rules skip these rows. */
export const SETTLE = Prisma.sql`
  INSERT INTO pg_temp.pair SELECT * FROM found;
  DELETE FROM pg_temp.unmatched_ours USING found WHERE unmatched_ours.n = found.o;
  DELETE FROM pg_temp.unmatched_theirs USING found WHERE unmatched_theirs.n = found.t;
  TRUNCATE found`;

/**
 * Sets `key` to the name that an unmatched payment of ours has: email, phone, handle or user ID, in this
 * order.
 */
const NAME_THEIRS = Prisma.sql`
  UPDATE pg_temp.unmatched_theirs t SET key = k.key
  FROM (
    SELECT n, coalesce(
      min(email) FILTER (WHERE email = known),
      min(phone) FILTER (WHERE phone = known),
      min(handle) FILTER (WHERE handle = known),
      min(receiver) FILTER (WHERE receiver = known)) AS key
    FROM (
      SELECT t.n, t.email, t.phone, t.handle, t.receiver, o.key AS known
      FROM unmatched_theirs t
      CROSS JOIN LATERAL (VALUES (t.email), (t.phone), (t.handle), (t.receiver)) AS named(key)
      JOIN (SELECT DISTINCT key FROM unmatched_ours) AS o ON o.key = named.key
    ) AS names
    GROUP BY n
  ) AS k WHERE k.n = t.n;
  ANALYZE unmatched_theirs`;

/** Order in which our rows that look alike get a partner. Payments with moved money come first. */
const OURS_FIRST = Prisma.sql`tier, at, call_id, position`;
const THEIRS_FIRST = Prisma.sql`word = 'not', at NULLS LAST, n`;

/**
 * Matches rows with the same identifier. `candidate` has the possible pairs, and with a FULL JOIN also the
 * rows whose identifier the other side lacks.
 * @param which rows to read: first all, later those without a partner.
 */
function bySameName(
  rule: 'upstream_ref' | 'upstream_id',
  which: 'all' | 'unmatched' = 'unmatched',
): Prisma.Sql[] {
  const [ours, theirs, join, into] =
    which === 'all'
      ? [Prisma.sql`ours`, Prisma.sql`theirs`, Prisma.sql`FULL JOIN`, Prisma.sql`pair`]
      : [Prisma.sql`unmatched_ours`, Prisma.sql`unmatched_theirs`, Prisma.sql`JOIN`, Prisma.sql`found`];
  const column = Prisma.raw(rule);
  const [o, t] = [Prisma.sql`o`, Prisma.sql`t`];
  const inOrder = (side: Prisma.Sql, table: Prisma.Sql, order: Prisma.Sql) => Prisma.sql`(
    SELECT n, ${column} AS name, row_number() OVER (PARTITION BY ${column} ORDER BY ${order}) AS nth
    FROM ${table} WHERE n IN (SELECT ${side} FROM twice))`;
  // Sorting a million numbers takes half as long as counting each.
  const repeated = (side: Prisma.Sql) => Prisma.sql`
    SELECT ${side} FROM (
      SELECT ${side}, lag(${side}) OVER (ORDER BY ${side}) AS before FROM candidate
    ) AS s WHERE ${side} = before`;
  return [
    Prisma.sql`DROP TABLE IF EXISTS candidate, twice`,
    Prisma.sql`CREATE TEMP TABLE candidate AS
    SELECT o.n AS o, t.n AS t
    FROM (SELECT * FROM ${ours} WHERE ${column} IS NOT NULL) AS o
    ${join} (SELECT * FROM ${theirs} WHERE ${column} IS NOT NULL) AS t USING (${column})`,
    // Identifiers that several rows of a side share. They should not exist, and are handled separately.
    Prisma.sql`CREATE TEMP TABLE twice AS
    SELECT o, t FROM candidate WHERE o IN (${repeated(o)}) OR t IN (${repeated(t)})`,
    Prisma.sql`INSERT INTO pg_temp.${into}
    SELECT o, t, ${rule}, 'certain' FROM candidate
    WHERE o IS NOT NULL AND t IS NOT NULL AND o NOT IN (SELECT o FROM twice)`,
    Prisma.sql`INSERT INTO pg_temp.${into}
    SELECT o.n, t.n, ${rule}, 'certain'
    FROM ${inOrder(o, ours, OURS_FIRST)} AS o
    JOIN ${inOrder(t, theirs, THEIRS_FIRST)} AS t USING (name, nth)`,
  ];
}

/** Columns of ours and of theirs that must be equal. Null excludes a row. */
type EqualColumns = [ours: Prisma.Sql, theirs: Prisma.Sql];

interface RankRule {
  rule: 'batch_ref' | 'reference';
  theirs: Prisma.Sql;
  equal: EqualColumns[];
  /** Certainty with one row on each side, and with several interchangeable rows. */
  certainty: { single: Prisma.Sql | string; several: string };
  /** Whether to match only one row on each side. */
  singleOnly?: boolean;
}

/** Names of the columns that must be equal. */
const NAMES = [Prisma.sql`g0`, Prisma.sql`g1`, Prisma.sql`g2`];

/** Pairs equal rows by time, which gives as many as possible a partner. */
function byRank({ rule, theirs, equal, certainty, singleOnly }: RankRule): Prisma.Sql {
  const used = NAMES.slice(0, equal.length);
  const names = Prisma.join(used);
  const ranked = (table: Prisma.Sql, columns: Prisma.Sql[], order: Prisma.Sql) => Prisma.sql`(
    SELECT s.*, row_number() OVER same AS nth, count(*) OVER (PARTITION BY ${names}) AS many
    FROM (
      SELECT *, ${Prisma.join(used.map((name, index) => Prisma.sql`${columns[index]} AS ${name}`))}
      FROM ${table} AS s
    ) AS s
    WHERE num_nulls(${names}) = 0
    WINDOW same AS (PARTITION BY ${names} ORDER BY ${order}))`;
  const columns = (side: 0 | 1) => equal.map((pair) => pair[side]);
  const single = Prisma.sql`o.many = 1 AND t.many = 1`;
  return Prisma.sql`
    INSERT INTO pg_temp.found
    SELECT o.n, t.n, ${rule}, CASE WHEN ${single} THEN ${certainty.single} ELSE ${certainty.several} END
    FROM ${ranked(Prisma.sql`unmatched_ours`, columns(0), OURS_FIRST)} AS o
    JOIN ${ranked(theirs, columns(1), THEIRS_FIRST)} AS t USING (${names}, nth)
    ${singleOnly ? Prisma.sql`WHERE ${single}` : Prisma.empty}`;
}

/** `of_call`: transactions that the answer to one call names without assigning them to a payment. */
const MAKE_OF_CALL = Prisma.sql`
  DROP TABLE IF EXISTS of_call;
  -- Later rules match transactions that two calls name, because their owner is unclear.
  CREATE TEMP TABLE of_call AS
  SELECT n, min(call_id::text)::uuid AS of_call
  FROM (
    SELECT t.n, x.call_id FROM unmatched_theirs t JOIN unmatched_name x USING (batch_ref)
    UNION
    SELECT t.n, x.call_id FROM unmatched_theirs t JOIN unmatched_name x USING (upstream_ref)
    UNION
    SELECT t.n, x.call_id FROM unmatched_theirs t JOIN unmatched_name x USING (upstream_id)
  ) AS named GROUP BY n HAVING count(*) = 1;
  ANALYZE of_call`;

const both = (column: Prisma.Sql): EqualColumns => [column, column];
const KEY = both(Prisma.sql`key`);
const USD = both(Prisma.sql`usd`);
const REFERENCE = both(Prisma.sql`reference`);
const OF_CALL: EqualColumns = [Prisma.sql`call_id`, Prisma.sql`of_call`];
const ERASED: EqualColumns = [
  Prisma.sql`CASE WHEN key IS NULL THEN 'erased' END`,
  Prisma.sql`'erased'::text`,
];

const sameBatch = (equal: EqualColumns[], singleOnly = false) =>
  byRank({
    rule: 'batch_ref',
    theirs: Prisma.sql`(SELECT * FROM unmatched_theirs JOIN of_call USING (n))`,
    equal: [OF_CALL, ...equal],
    certainty: { single: 'certain', several: 'probable' },
    singleOnly,
  });

/** Same recipient and amount, then same amount for erased people, then a single row left on each side. */
const BY_BATCH = [sameBatch([KEY, USD]), sameBatch([USD, ERASED]), sameBatch([], true)];

const IF_SAME_RECIPIENT = Prisma.sql`CASE
  WHEN o.key IN (t.email, t.phone, t.handle, t.receiver) THEN 'certain' ELSE 'probable' END`;

const sameReference = (
  equal: EqualColumns[],
  single: Prisma.Sql | string = IF_SAME_RECIPIENT,
  singleOnly = false,
) =>
  byRank({
    rule: 'reference',
    theirs: Prisma.sql`unmatched_theirs`,
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
export const matchAll = (ids: CallIdRange) => [
  MAKE_PAIRS,
  ...bySameName('upstream_ref', 'all'),
  Prisma.sql`ANALYZE pair`,
  MAKE_UNMATCHED,
  ...bySameName('upstream_id'),
  SETTLE,
  ...makeNames(ids),
];

/** All rules, over the remaining rows. */
export const MATCH_REMAINING = [
  ...[bySameName('upstream_ref'), bySameName('upstream_id')].flatMap((rule) => [...rule, SETTLE]),
  NAME_THEIRS,
  MAKE_OF_CALL,
  ...[...BY_BATCH, ...BY_REFERENCE].flatMap((rule) => [rule, SETTLE]),
];
