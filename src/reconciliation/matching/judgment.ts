import { Prisma } from '../../platform/database/generated/client';
import { Plan } from '../book/plan';
import { SET_ASIDE_WORTH } from '../book/theirs';

/**
 * `judged`: sums of our payments of the period, with the state of their money on both sides and the parts of
 * the difference. Each row groups payments that are alike, with the numbers of those with a difference. For a
 * pair, o and t are the amounts, e is the expected fee and f the charged one. mo and mt are 1 if money moved:
 *
 * mt·(t + f) − mo·(o + e)  =  (mt − mo)·(o + e)  +  mt·(t − o)  +  mt·(f − e)
 *
 * The terms are the impacts of `status`, of the amount and of `fee`. `differing` has the payments with a
 * difference.
 */
export function makeJudged(plan: Plan): Prisma.Sql[] {
  return [
    Prisma.sql`DROP TABLE IF EXISTS judged, differing`,
    Prisma.sql`CREATE TEMP TABLE judged AS
    SELECT *, ${TERMS}
    FROM (
      SELECT day, matched, mo, mt, rule, certainty, amount_differs, fee_differs, count(*) AS count,
        sum(o) AS o, sum(t) AS t, sum(e) AS e, sum(f) AS f,
        array_agg(o_n) FILTER (WHERE ${DIFFERS}) AS differing
      FROM (${sides(plan, Prisma.sql`o.in_period`)}) AS sides
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ) AS groups`,
    Prisma.sql`CREATE TEMP TABLE differing AS
    SELECT *, ${TERMS}
    FROM (${sides(plan, Prisma.sql`o.n IN (SELECT unnest(differing) FROM judged)`)}) AS sides`,
    Prisma.sql`ANALYZE differing`,
  ];
}

const TERMS = Prisma.sql`mo::integer * (o + e) AS ours_usd,
      mt::integer * (t + f) AS theirs_usd,
      (mt::integer - mo::integer) * (o + e) AS status_usd,
      mt::integer * (t - o) AS amount_usd,
      mt::integer * (f - e) AS fee_usd`;

const DIFFERS = Prisma.sql`status_differs OR amount_differs OR fee_differs OR recipient_differs
  OR late OR unrecognised OR (NOT matched AND mo)`;

/** Our payments with their transactions. */
function sides({ source, settings }: Plan, which: Prisma.Sql): Prisma.Sql {
  // A statement without any fee shows nothing about fees. The upstream omits fees of zero.
  const fees =
    source === 'upstream' ? Prisma.sql`TRUE` : Prisma.sql`EXISTS (SELECT FROM theirs WHERE fee IS NOT NULL)`;
  return Prisma.sql`
    SELECT *, matched AND mo <> mt AS status_differs,
      matched AND abs(t - o) > ${settings.amountToleranceUsd}::numeric AS amount_differs,
      mt AND abs(f - e) > ${settings.feeToleranceUsd}::numeric AS fee_differs
    FROM (
      SELECT o.n AS o_n, t.n AS t_n, p.rule, p.certainty, p.o IS NOT NULL AS matched, o.day,
        -- A status that is not final contradicts nothing. An unrecognised status counts as ours.
        CASE WHEN p.o IS NULL THEN FALSE
          WHEN word = 'moved' THEN TRUE
          WHEN word = 'not' THEN FALSE
          ELSE coalesce(moved, TRUE) END AS mt,
        -- Our records cannot show whether a link was paid, so the upstream's status counts.
        coalesce(moved, p.o IS NOT NULL AND word IS DISTINCT FROM 'not') AS mo,
        -- If the call had no amount, the upstream's cannot differ from it.
        CASE WHEN o.incoming THEN 0 ELSE coalesce(o.usd, t.usd, 0) END AS o,
        CASE WHEN o.incoming OR t.incoming THEN 0 ELSE coalesce(t.usd, 0) END AS t,
        CASE WHEN o.incoming OR NOT fees.compared THEN 0 ELSE coalesce(o.fee, 0) END AS e,
        CASE WHEN o.incoming OR t.incoming THEN 0 ELSE coalesce(t.fee, 0) END AS f,
        coalesce(
          o.key NOT IN (
            coalesce(t.email, ''), coalesce(t.phone, ''), coalesce(t.handle, ''), coalesce(t.receiver, ''))
          AND coalesce(t.email, t.phone, t.handle, t.receiver) IS NOT NULL, FALSE) AS recipient_differs,
        coalesce(t.at - o.at > make_interval(secs => ${settings.lateAfterSeconds}), FALSE) AS late,
        coalesce(word = 'odd', FALSE) AS unrecognised
      FROM (SELECT ${fees} AS compared) AS fees CROSS JOIN ours o
      LEFT JOIN pair p ON p.o = o.n LEFT JOIN theirs t ON t.n = p.t
      WHERE ${which}
      OFFSET 0 -- Otherwise the planner would repeat these expressions wherever they are used.
    ) AS sides`;
}

/**
 * Numbers the transactions with the same name. Those with a payment come first. The first is the `twin`. The
 * number by the ID counts only without a reference.
 */
const numberBy = (name: Prisma.Sql) => Prisma.sql`
  UPDATE pg_temp.alone a
  SET nth = CASE WHEN a.${name} = coalesce(a.upstream_ref, a.upstream_id) THEN s.nth ELSE a.nth END,
    duplicate = a.duplicate OR s.nth > 1, twin = coalesce(a.twin, nullif(s.twin, a.n))
  FROM (
    SELECT t.n, row_number() OVER same AS nth, first_value(t.n) OVER same AS twin
    FROM theirs t LEFT JOIN pair p ON p.t = t.n
    WHERE ${name} IN (SELECT ${name} FROM alone)
    WINDOW same AS (PARTITION BY t.${name} ORDER BY p.t IS NULL, t.at NULLS LAST, t.n)
  ) AS s WHERE s.n = a.n`;

/**
 * `alone`: each transaction of the period without a payment of ours. It is a duplicate if it has the name of
 * another transaction, its `twin`, or looks like one that matches a payment. Otherwise it is unknown.
 * Includes refunds, reversals and fees, whose twin is their payment.
 */
export function makeAlone({ from, settings }: Plan): Prisma.Sql[] {
  const near = Prisma.sql`make_interval(secs => ${settings.timeToleranceSeconds})`;
  return [
    Prisma.sql`DROP TABLE IF EXISTS alone`,
    Prisma.sql`CREATE TEMP TABLE alone AS
    SELECT t.*, coalesce(t.at, ${from}::timestamptz) AS when_at,
      CASE WHEN t.incoming OR t.word = 'not' THEN 0
        ELSE coalesce(t.usd, 0) + coalesce(t.fee, 0) END AS impact,
      1 AS nth, FALSE AS duplicate, NULL::bigint AS twin
    FROM unmatched_theirs t WHERE t.in_period`,
    Prisma.sql`ANALYZE alone`,
    numberBy(Prisma.sql`upstream_ref`),
    numberBy(Prisma.sql`upstream_id`),
    Prisma.sql`UPDATE pg_temp.alone a SET duplicate = TRUE, twin = coalesce(a.twin, s.twin)
    FROM (
      SELECT DISTINCT ON (a.n) a.n, t.n AS twin
      FROM alone a JOIN theirs t ON t.usd = a.usd AND t.incoming = a.incoming
        AND t.reference IS NOT DISTINCT FROM a.reference
        AND coalesce(t.email, t.phone, t.handle, t.receiver) = coalesce(a.email, a.phone, a.handle,
          a.receiver)
        AND t.at BETWEEN a.at - ${near} AND a.at + ${near}
      JOIN pair p ON p.t = t.n
      ORDER BY a.n, abs(extract(epoch FROM t.at - a.at)), t.n
    ) AS s WHERE s.n = a.n`,
    Prisma.sql`INSERT INTO pg_temp.alone
    SELECT a.*, NULL, NULL, coalesce(a.at, ${from}::timestamptz), ${SET_ASIDE_WORTH},
      row_number() OVER (PARTITION BY coalesce(a.upstream_ref, a.upstream_id) ORDER BY a.at, a.n),
      FALSE, l.t
    FROM set_aside a LEFT JOIN set_aside_link l ON l.a = a.n
    WHERE a.in_period AND a.flow IN ('refund', 'reversal', 'fee') AND a.word <> 'not'
      AND l.counted IS NOT TRUE`,
  ];
}
