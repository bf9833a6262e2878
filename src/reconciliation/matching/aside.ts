/** The transactions that are no payments: fees, refunds, reversals, top-ups, incoming transfers and redemptions. */

export const MAKE_ASIDE = 'CREATE TEMP TABLE aside AS TABLE theirs WITH NO DATA';

/** Moves them from `theirs` to `aside`, so that no payment of ours is matched with them. */
export const PUT_ASIDE = `
  WITH gone AS (DELETE FROM pg_temp.theirs WHERE flow IS NOT NULL RETURNING *) INSERT INTO pg_temp.aside TABLE gone`;

const RECIPIENT = (alias: string) => `coalesce(${alias}.email, ${alias}.phone, ${alias}.handle, ${alias}.receiver)`;

/** How a refund names its payment, from the most certain to the least. */
const SAME = [
  't.upstream_ref = a.upstream_ref',
  't.batch_ref = a.batch_ref',
  't.reference = a.reference',
  `${RECIPIENT('t')} = ${RECIPIENT('a')}`,
];

/**
 * `aside_link`: the payment that each refund or reversal is about. If the status of the payment says that its money came
 * back, the money is `counted` there already.
 */
export const LINK_ASIDE = `
  CREATE TEMP TABLE aside_link AS
  SELECT DISTINCT ON (a) a, t, word = 'not' AS counted FROM (
    ${SAME.map(
      (condition, rank) => `SELECT a.n AS a, t.n AS t, t.word, ${rank} AS rank
      FROM aside a JOIN theirs t ON t.usd = abs(a.usd) AND ${condition} WHERE a.flow IN ('refund', 'reversal')`,
    ).join('\n    UNION ALL ')}
  ) AS found ORDER BY a, rank, t`;

/** What a transaction `a` adds to the upstream's total, with its link `l`. */
export const ASIDE_WORTH = `CASE WHEN a.word = 'not' THEN 0 WHEN a.flow = 'fee' THEN coalesce(a.usd, 0)
  WHEN a.flow IN ('refund', 'reversal') AND l.counted IS NOT TRUE THEN -coalesce(abs(a.usd), 0) ELSE 0 END`;

/** The transactions of the period that are no payments, by kind. */
export const SUM_ASIDE = `
  SELECT flow, count(*)::float8 AS count, sum(coalesce(abs(usd), 0)) AS usd FROM aside WHERE in_period GROUP BY 1 ORDER BY 1`;
