/**
 * The rules that match by identifiers: upstream_ref, upstream_id, batch_ref, reference. Each rule works on the rows
 * that earlier rules left, as sets, and fills `found`.
 */

import { Prisma } from '../../platform/database/generated/client';
/** The order in which our rows that look alike get a partner. Payments with moved money come first. */
const OURS_FIRST = Prisma.sql`tier, at, call_id, position`;
const THEIRS_FIRST = Prisma.sql`word = 'not', at NULLS LAST, n`;

/**
 * Matches rows with the same identifier. `candidate` has the possible pairs, and with a FULL JOIN also the rows whose
 * identifier the other side lacks.
 * @param from the tables to read, and the one to fill: first all rows, later those without a partner.
 */
export function bySameName(rule: 'upstream_ref' | 'upstream_id', { ours, theirs, join, into }: Sides): Prisma.Sql[] {
  const column = Prisma.raw(rule);
  const [o, t] = [Prisma.sql`o`, Prisma.sql`t`];
  const inOrder = (side: Prisma.Sql, table: Prisma.Sql, order: Prisma.Sql) => Prisma.sql`(
    SELECT n, ${column} AS name, row_number() OVER (PARTITION BY ${column} ORDER BY ${order}) AS place
    FROM ${table} WHERE n IN (SELECT ${side} FROM twice))`;
  // To sort a million numbers takes half as long as to count each.
  const repeated = (side: Prisma.Sql) =>
    Prisma.sql`SELECT ${side} FROM (SELECT ${side}, lag(${side}) OVER (ORDER BY ${side}) AS before FROM candidate) AS s WHERE ${side} = before`;
  return [
    Prisma.sql`DROP TABLE IF EXISTS candidate, twice`,
    Prisma.sql`CREATE TEMP TABLE candidate AS SELECT o.n AS o, t.n AS t
    FROM (SELECT * FROM ${ours} WHERE ${column} IS NOT NULL) AS o ${join} (SELECT * FROM ${theirs} WHERE ${column} IS NOT NULL) AS t USING (${column})`,
    // Identifiers that several rows of a side share. There should be none, so they are handled apart.
    Prisma.sql`CREATE TEMP TABLE twice AS SELECT o, t FROM candidate WHERE o IN (${repeated(o)}) OR t IN (${repeated(t)})`,
    Prisma.sql`INSERT INTO pg_temp.${into}
    SELECT o, t, ${rule}, 'certain' FROM candidate WHERE o IS NOT NULL AND t IS NOT NULL AND o NOT IN (SELECT o FROM twice)`,
    Prisma.sql`INSERT INTO pg_temp.${into}
    SELECT o.n, t.n, ${rule}, 'certain'
    FROM ${inOrder(o, ours, OURS_FIRST)} AS o JOIN ${inOrder(t, theirs, THEIRS_FIRST)} AS t USING (name, place)`,
  ];
}

interface Sides {
  ours: Prisma.Sql;
  theirs: Prisma.Sql;
  join: Prisma.Sql;
  into: Prisma.Sql;
}

export const EVERYTHING: Sides = {
  ours: Prisma.sql`ours`,
  theirs: Prisma.sql`theirs`,
  join: Prisma.sql`FULL JOIN`,
  into: Prisma.sql`pair`,
};
export const LEFT: Sides = {
  ours: Prisma.sql`left_ours`,
  theirs: Prisma.sql`left_theirs`,
  join: Prisma.sql`JOIN`,
  into: Prisma.sql`found`,
};

interface Ranked {
  rule: 'batch_ref' | 'reference';
  theirs: Prisma.Sql;
  /** The columns that must be equal, of ours and of theirs. Rows with null in one of them take no part. */
  equal: [ours: Prisma.Sql, theirs: Prisma.Sql][];
  /** The certainty if there is one row on each side, and if several could change places. */
  certainty: { single: Prisma.Sql; several: string };
  /** Whether to match only if there is one row on each side. */
  singleOnly?: boolean;
}

/** The names of the columns that must be equal. */
const NAMES = [Prisma.sql`g0`, Prisma.sql`g1`, Prisma.sql`g2`];

/** Pairs equal rows in the order of time, so that as many as possible get a partner. */
function byRank({ rule, theirs, equal, certainty, singleOnly }: Ranked): Prisma.Sql {
  const used = NAMES.slice(0, equal.length);
  const names = Prisma.join(used);
  const ranked = (table: Prisma.Sql, columns: Prisma.Sql[], order: Prisma.Sql) => Prisma.sql`(
    SELECT s.*, row_number() OVER same AS place, count(*) OVER (PARTITION BY ${names}) AS many
    FROM (SELECT *, ${Prisma.join(used.map((name, place) => Prisma.sql`${columns[place]} AS ${name}`))} FROM ${table} AS s) AS s
    WHERE ${Prisma.join(
      used.map((name) => Prisma.sql`${name} IS NOT NULL`),
      ' AND ',
    )}
    WINDOW same AS (PARTITION BY ${names} ORDER BY ${order}))`;
  const single = Prisma.sql`o.many = 1 AND t.many = 1`;
  return Prisma.sql`
    INSERT INTO pg_temp.found
    SELECT o.n, t.n, ${rule}, CASE WHEN ${single} THEN ${certainty.single} ELSE ${certainty.several} END
    FROM ${ranked(
      Prisma.sql`left_ours`,
      equal.map(([column]) => column),
      OURS_FIRST,
    )} AS o
    JOIN ${ranked(
      theirs,
      equal.map(([, column]) => column),
      THEIRS_FIRST,
    )} AS t USING (${names}, place)
    ${singleOnly ? Prisma.sql`WHERE ${single}` : Prisma.empty}`;
}

/** `of_call`: the transactions that the answer to one call names, if it does not say for which payment. */
export const MAKE_OF_CALL = Prisma.sql`
  DROP TABLE IF EXISTS of_call;
  -- Transactions that two calls name are left to later rules, because their owner is unclear.
  CREATE TEMP TABLE of_call AS
  SELECT n, min(call_id::text)::uuid AS of_call
  FROM (
    SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.batch_ref = t.batch_ref
    UNION SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.upstream_ref = t.upstream_ref
    UNION SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.upstream_id = t.upstream_id
  ) AS named GROUP BY n HAVING count(*) = 1;
  ANALYZE of_call`;

const CERTAIN = Prisma.sql`'certain'`;
const PROBABLE = Prisma.sql`'probable'`;
const POSSIBLE = Prisma.sql`'possible'`;

const KEY = both(Prisma.sql`key`);
const USD = both(Prisma.sql`usd`);
const REFERENCE = both(Prisma.sql`reference`);
const OF_CALL: Ranked['equal'][number] = [Prisma.sql`call_id`, Prisma.sql`of_call`];
const ERASED: Ranked['equal'][number] = [
  Prisma.sql`CASE WHEN key IS NULL THEN 'erased' END`,
  Prisma.sql`'erased'::text`,
];

function both(column: Prisma.Sql): Ranked['equal'][number] {
  return [column, column];
}

const sameBatch = (equal: Ranked['equal'], singleOnly = false) =>
  byRank({
    rule: 'batch_ref',
    theirs: Prisma.sql`(SELECT * FROM left_theirs JOIN of_call USING (n))`,
    equal: [OF_CALL, ...equal],
    certainty: { single: CERTAIN, several: 'probable' },
    singleOnly,
  });

/** The same recipient and amount, then the same amount for erased people, then a single row left on each side. */
export const BY_BATCH = [sameBatch([KEY, USD]), sameBatch([USD, ERASED]), sameBatch([], true)];

const IF_SAME_RECIPIENT = Prisma.sql`CASE WHEN o.key IN (t.email, t.phone, t.handle, t.receiver) THEN 'certain' ELSE 'probable' END`;

const sameReference = (equal: Ranked['equal'], single = IF_SAME_RECIPIENT, singleOnly = false) =>
  byRank({
    rule: 'reference',
    theirs: Prisma.sql`left_theirs`,
    equal: [REFERENCE, ...equal],
    certainty: { single, several: 'possible' },
    singleOnly,
  });

/**
 * First, a reference that only one row of each side has. If several have it, it proves little, and the other fields
 * decide. Rows with different recipients and amounts are not matched.
 */
export const BY_REFERENCE = [
  sameReference([], IF_SAME_RECIPIENT, true),
  sameReference([KEY, USD]),
  sameReference([USD], POSSIBLE),
  sameReference([KEY], PROBABLE),
];
