import { Prisma } from '../../platform/database/generated/client';

/** The transactions that are no payments: fees, refunds, reversals, top-ups, incoming transfers and redemptions. */

/** Moves them from `theirs` to `aside`, so that no payment of ours is matched with them. */
export const PUT_ASIDE = Prisma.sql`
  CREATE TEMP TABLE aside AS TABLE theirs WITH NO DATA;
  WITH gone AS (DELETE FROM pg_temp.theirs WHERE flow IS NOT NULL RETURNING *) INSERT INTO pg_temp.aside TABLE gone`;

/** How a refund names its payment, from the most certain to the least. */
const SAME = [
  Prisma.sql`t.upstream_ref = a.upstream_ref`,
  Prisma.sql`t.batch_ref = a.batch_ref`,
  Prisma.sql`t.reference = a.reference`,
  Prisma.sql`coalesce(t.email, t.phone, t.handle, t.receiver) = coalesce(a.email, a.phone, a.handle, a.receiver)`,
];

/**
 * `aside_link`: the payment that each refund or reversal is about. If the status of the payment says that its money came
 * back, the money is `counted` there already.
 */
export const LINK_ASIDE = Prisma.sql`
  CREATE TEMP TABLE aside_link AS
  SELECT DISTINCT ON (a) a, t, word = 'not' AS counted FROM (
    ${Prisma.join(
      SAME.map(
        (condition, rank) => Prisma.sql`SELECT a.n AS a, t.n AS t, t.word, ${rank}::integer AS rank
      FROM aside a JOIN theirs t ON t.usd = abs(a.usd) AND ${condition} WHERE a.flow IN ('refund', 'reversal')`,
      ),
      '\n    UNION ALL ',
    )}
  ) AS found ORDER BY a, rank, t`;

/** What a transaction `a` adds to the upstream's total, with its link `l`. */
export const ASIDE_WORTH = Prisma.sql`CASE WHEN a.word = 'not' THEN 0 WHEN a.flow = 'fee' THEN coalesce(a.usd, 0)
  WHEN a.flow IN ('refund', 'reversal') AND l.counted IS NOT TRUE THEN -coalesce(abs(a.usd), 0) ELSE 0 END`;

/** The transactions of the period that are no payments, by kind. */
export const SUM_ASIDE = Prisma.sql`
  SELECT flow, count(*)::float8 AS count, sum(coalesce(abs(usd), 0)) AS usd FROM aside WHERE in_period GROUP BY 1 ORDER BY 1`;
