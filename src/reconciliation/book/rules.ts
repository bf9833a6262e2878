import { namedCallSql } from '../../operations/catalogue/payout-id';
import { Prisma } from '../../platform/database/generated/client';
import { CallIdRange } from './ours';
import { roundedUsd } from './pairing/agreement';
import { byRank, EqualColumns, OURS_FIRST, RankRule, THEIRS_FIRST } from './pairing/ranks';

/**
 * The rules that attribute transactions (`theirs`) to payouts (`ours`) by names, in their order. Each rule
 * processes the rows left by earlier rules, as sets, and fills `found`. All rules after the first process the
 * usually few rows without a partner: `unmatched_ours` and `unmatched_theirs`. The last rule, for payouts and
 * transactions that are alike, is in fingerprint.ts. docs/internals/attribution.md explains each.
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
  SELECT theirs.*, NULL::text AS key, NULL::text AS kind FROM theirs
  WHERE upstream_ref IS NULL OR n IN (SELECT t FROM candidate WHERE o IS NULL UNION ALL SELECT t FROM twice);
  DELETE FROM pg_temp.unmatched_ours USING pair, twice
    WHERE unmatched_ours.n = pair.o AND pair.o = twice.o;
  DELETE FROM pg_temp.unmatched_theirs USING pair, twice
    WHERE unmatched_theirs.n = pair.t AND pair.t = twice.t;
  ANALYZE unmatched_ours; ANALYZE unmatched_theirs`;

/** `unmatched_name`: the names in the answers to calls with unmatched payments, of whichever payment. */
export const makeNames = ({ low, high }: CallIdRange) => [
  Prisma.sql`DROP TABLE IF EXISTS unmatched_name`,
  Prisma.sql`CREATE TEMP TABLE unmatched_name AS
  SELECT x.intent_id AS call_id, x.upstream_ref, x.upstream_id, x.batch_ref
  FROM outcome_item x JOIN run_call c ON c.call_id = x.intent_id AND c.answered
  WHERE x.intent_id IN (SELECT call_id FROM unmatched_ours)
    AND x.intent_id BETWEEN ${low}::uuid AND ${high}::uuid
  UNION
  SELECT call_id, upstream_ref, upstream_id, batch_ref
  FROM run_evidence WHERE stated AND call_id IN (SELECT call_id FROM unmatched_ours)`,
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
export const NAME_THEIRS = Prisma.sql`
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

/** The call whose ID a transaction has. */
const NAMED_CALL = Prisma.raw(namedCallSql('reference'));

/**
 * `of_call`: transactions that the answer to one call with unmatched payments names without assigning them
 * to a payment, by their own names (`named`) or only by their batch. One with an ID of ours is of no other
 * call.
 */
const MAKE_OF_CALL = Prisma.sql`
  DROP TABLE IF EXISTS of_call;
  -- Later rules match transactions that two calls name, because their owner is unclear.
  CREATE TEMP TABLE of_call AS
  SELECT n, min(call_id::text)::uuid AS of_call, bool_or(named) AS named
  FROM (
    SELECT n, reference, call_id, FALSE AS named FROM unmatched_theirs JOIN unmatched_name USING (batch_ref)
    UNION
    SELECT n, reference, call_id, TRUE FROM unmatched_theirs JOIN unmatched_name USING (upstream_ref)
    UNION
    SELECT n, reference, call_id, TRUE FROM unmatched_theirs JOIN unmatched_name USING (upstream_id)
  ) AS names
  WHERE call_id IN (SELECT call_id FROM unmatched_ours)
    AND NOT EXISTS (SELECT FROM intent WHERE id = ${NAMED_CALL} AND id <> call_id)
  GROUP BY n HAVING count(DISTINCT call_id) = 1;
  ANALYZE of_call`;

const both = (column: Prisma.Sql): EqualColumns => [column, column];
export const KEY = both(Prisma.sql`key`);
export const USD = both(Prisma.sql`usd`);
export const REFERENCE = both(Prisma.sql`reference`);
const OF_CALL: EqualColumns = [Prisma.sql`call_id`, Prisma.sql`of_call`];
const ERASED: EqualColumns = [
  Prisma.sql`CASE WHEN key IS NULL THEN 'erased' END`,
  Prisma.sql`'erased'::text`,
];

/** A transaction with the ID that the proxy wrote into the request of the payout. */
const ownId = (more: Pick<RankRule, 'equal' | 'certainty'> & Partial<RankRule>) =>
  byRank({
    rule: 'own_id',
    where: Prisma.sql`starts_with(o.reference, o.call_id::text)`,
    ...more,
  });
const BY_OWN_ID = ownId({
  equal: [REFERENCE],
  certainty: { equal: 'certain', unequal: 'possible' },
  singleOnly: true,
});
/** The transactions that agree with the payout whose ID they have. */
const OF_ITS_PAYOUT = Prisma.sql`(
  SELECT t.* FROM unmatched_theirs t WHERE EXISTS (
    SELECT FROM unmatched_ours o JOIN compared_operation c USING (operation)
    WHERE o.reference = t.reference AND starts_with(o.reference, o.call_id::text)
      AND coalesce(t.type = c.type, TRUE) AND coalesce(abs(t.usd - o.usd) <= 0.01 + coalesce(t.fee, 0), TRUE)
      AND recipients_agree(array_remove(ARRAY[t.email, t.phone, t.handle, t.receiver], NULL),
        array_remove(ARRAY[o.key], NULL))))`;
/**
 * One of several with the ID: the upstream paid twice, or shows the ID of another party's transaction too.
 * First one with the recipient and amount.
 */
const BY_SHARED_OWN_ID = [[REFERENCE, KEY, USD], [REFERENCE]].map((equal) =>
  ownId({ theirs: OF_ITS_PAYOUT, equal, certainty: { equal: 'certain', unequal: 'certain' } }),
);

const OF_CALL_ROWS = Prisma.sql`(SELECT * FROM unmatched_theirs JOIN of_call USING (n))`;
/** Those of the type that the call creates, or without a type. */
const OF_ITS_TYPE = Prisma.sql`(
  SELECT r.* FROM ${OF_CALL_ROWS} AS r JOIN intent q ON q.id = r.of_call
  JOIN compared_operation c ON c.operation = q.operation AND coalesce(r.type = c.type, TRUE))`;

const sameBatch = (equal: EqualColumns[], more: Partial<RankRule> = {}) =>
  byRank({
    rule: 'batch_ref',
    theirs: OF_CALL_ROWS,
    equal: [OF_CALL, ...equal],
    certainty: { equal: 'certain', unequal: 'probable' },
    ...more,
  });

/** The place in the call, if a single row is left on each side. A batch proves none: calls can share it. */
const BY_PLACE = sameBatch([], { singleOnly: true, where: Prisma.sql`t.named` });

/** Not an amount that is near without being rounded: it may be that of another payout to the recipient. */
const BY_SURE_PLACE = sameBatch([], {
  singleOnly: true,
  where: Prisma.sql`t.named AND (abs(o.usd - t.usd) - coalesce(t.fee, 0) <= 0.01
    AND abs(o.usd - t.usd) - coalesce(t.fee, 0) > ${roundedUsd(Prisma.sql`t.usd`)}) IS NOT TRUE`,
});

/**
 * Within the call whose answer names the transaction: the same recipient and amount, then the same amount for
 * erased people. Calls can share a batch, so more transactions than erased payouts prove nothing.
 */
const MATCH_BATCHES = [
  MAKE_OF_CALL,
  sameBatch([KEY, USD], { theirs: OF_ITS_TYPE }),
  SETTLE,
  sameBatch([USD, ERASED], { theirs: OF_ITS_TYPE, where: Prisma.sql`t.many <= o.many` }),
  SETTLE,
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

/** The rules that prove a transaction's payout, over the remaining rows. */
export const MATCH_NAMED = [
  ...[bySameName('upstream_ref'), bySameName('upstream_id')].flatMap((rule) => [...rule, SETTLE]),
  ...[BY_OWN_ID, NAME_THEIRS, ...BY_SHARED_OWN_ID].flatMap((rule) => [rule, SETTLE]),
  ...MATCH_BATCHES,
  BY_SURE_PLACE,
  SETTLE,
];

/** The rules within a call again, after other rules took rows of it. */
export const MATCH_PLACES = [...MATCH_BATCHES, BY_PLACE, SETTLE];

/** The rules for rows of refused pairs: a transaction agrees with the payout of its ID, then batches. */
export const MATCH_REFUSED = [...BY_SHARED_OWN_ID.flatMap((rule) => [rule, SETTLE]), ...MATCH_BATCHES];
