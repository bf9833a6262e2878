import { Client } from 'pg';
import { Prisma } from '../../platform/database/generated/client';
import { runAll } from '../book/connection';
import { IN_DOUBT, otherDoubts } from '../book/ours';
import { Plan, withMargin } from '../book/plan';
import { SET_ASIDE_WORTH } from '../book/theirs';
import { listingFaults } from './entries/completeness';
import { WalletResults } from './entries/wallets';
import { harmless, plainWord } from './recipients';
import { DoubtKind, DoubtRecord, DayRecord, IncompleteRecord, TotalsRecord } from './totals.dto';

/** Maximum number of doubts listed in the totals of a run. Their count is always complete. */
const MAX_DOUBTS = 100;

/** `doubt`: calls and transactions in doubt. Calls whose money moved by the listing are findings. */
function makeDoubts(plan: Plan): Prisma.Sql[] {
  return [
    Prisma.sql`CREATE TEMP TABLE open_word AS
    SELECT n, upstream_ref, at, status, word, in_period, CASE WHEN incoming THEN 0 ELSE usd END AS usd
    FROM theirs WHERE word IN ('open', 'odd');
    ANALYZE open_word`,
    Prisma.sql`CREATE TEMP TABLE doubt AS
    SELECT CASE t.word WHEN 'open' THEN 'pending' WHEN 'odd' THEN 'ambiguous' ELSE 'in_doubt' END AS kind,
      o.call_id, o.position, o.operation,
      ${harmless(Prisma.sql`coalesce(t.upstream_ref, o.upstream_ref)`)} AS upstream_ref,
      ${plainWord(Prisma.sql`t.status`)} AS status,
      coalesce(t.at, o.at) AS at, coalesce(o.usd, t.usd) AS usd
    FROM ours o LEFT JOIN (pair p JOIN open_word t ON t.n = p.t) ON p.o = o.n
    WHERE o.in_period AND (t.n IS NOT NULL
      OR (o.entry = ANY (${IN_DOUBT}::text[])
        AND o.n NOT IN (SELECT o_n FROM differing WHERE status_differs)))
    UNION ALL
    SELECT CASE t.word WHEN 'open' THEN 'pending' ELSE 'ambiguous' END,
      NULL, NULL, NULL,
      ${harmless(Prisma.sql`t.upstream_ref`)}, ${plainWord(Prisma.sql`t.status`)}, t.at, t.usd
    FROM (
      SELECT * FROM open_word WHERE NOT EXISTS (SELECT FROM pair p WHERE p.t = open_word.n)
      UNION ALL
      SELECT n, upstream_ref, at, status, word, in_period, abs(usd)
      FROM set_aside WHERE word IN ('open', 'odd')
    ) AS t
    WHERE t.in_period
    UNION ALL
    SELECT 'in_doubt', c.call_id, NULL, c.operation, NULL, NULL, c.at, c.usd
    FROM (${otherDoubts(plan)}) AS c`,
  ];
}

/** The sums of some rows as one JSON object, by their `name`. */
const byName = (value: Prisma.Sql, rows: Prisma.Sql) => Prisma.sql`(
    SELECT coalesce(json_object_agg(name, ${value} ORDER BY name), '{}') FROM (${rows} GROUP BY 1) AS named)`;
const COUNT = Prisma.sql`count`;
const SUM = Prisma.sql`json_build_object('count', count, 'usd', trim_scale(usd)::text)`;

const matchedBy = (name: Prisma.Sql) =>
  byName(COUNT, Prisma.sql`SELECT ${name} AS name, sum(count) AS count FROM judged WHERE matched`);
const doubtsOf = (kind: DoubtKind) => Prisma.sql`(
    SELECT json_build_object('count', count(*), 'usd', trim_scale(coalesce(sum(usd), 0))::text)
    FROM doubt WHERE kind = ${kind})`;

/** The sums of matches, findings, doubts and other transactions. */
const PARTS = Prisma.sql`json_build_object(
    'count', (SELECT coalesce(sum(count), 0) FROM judged WHERE matched),
    'by_rule', ${matchedBy(Prisma.sql`rule`)},
    'by_certainty', ${matchedBy(Prisma.sql`certainty`)}) AS matched,
  json_build_object('count', (SELECT count(*) FROM difference), 'by_category', ${byName(
    SUM,
    Prisma.sql`SELECT category AS name, count(*) AS count, sum(impact) AS usd FROM difference`,
  )}) AS findings,
  ${doubtsOf('in_doubt')} AS in_doubt, ${doubtsOf('pending')} AS pending,
  ${doubtsOf('ambiguous')} AS ambiguous,
  ${byName(
    SUM,
    Prisma.sql`SELECT flow AS name, count(*) AS count, sum(coalesce(abs(usd), 0)) AS usd
    FROM set_aside WHERE in_period`,
  )} AS aside`;

/** The oldest doubts. */
const DOUBTS = Prisma.sql`
  SELECT kind, call_id, position, operation, upstream_ref, status, at, trim_scale(usd)::text AS usd
  FROM doubt ORDER BY at, call_id, position, upstream_ref LIMIT ${MAX_DOUBTS}`;

/** Amount of a transaction with its fee. */
const WORTH = Prisma.sql`CASE WHEN t.word = 'not' OR t.incoming THEN 0
  ELSE coalesce(t.usd, 0) + coalesce(t.fee, 0) END`;

/** Sums each side from its own rows, independently of matches. Otherwise the residual would prove nothing. */
const SUMS = Prisma.sql`
  SELECT json_build_object('count', ours.count, 'usd', trim_scale(ours.usd)::text) AS ours,
    json_build_object('count', theirs.count, 'usd', trim_scale(theirs.usd)::text) AS theirs,
    unlisted.count AS unlisted, trim_scale(ours.within)::text AS within_tolerance_usd,
    trim_scale(theirs.usd - ours.usd - findings.usd - ours.within)::text AS residual_usd, ${PARTS}
  FROM (
    SELECT coalesce(sum(count) FILTER (WHERE matched OR mo), 0)::float8 AS count,
      coalesce(sum(ours_usd), 0) AS usd,
      coalesce(sum(amount_usd) FILTER (WHERE NOT amount_differs), 0)
        + coalesce(sum(fee_usd) FILTER (WHERE NOT fee_differs), 0) AS within
    FROM judged
  ) AS ours, (
    SELECT every.count + aside.count - others.count AS count, every.usd + aside.usd - others.usd AS usd
    FROM (
      SELECT count(*)::float8 AS count, coalesce(sum(${WORTH}), 0) AS usd FROM theirs t
    ) AS every, (
      SELECT count(*)::float8 AS count, coalesce(sum(${SET_ASIDE_WORTH}), 0) AS usd
      FROM set_aside a LEFT JOIN set_aside_link l ON l.a = a.n WHERE a.in_period
    ) AS aside, (
      SELECT coalesce(sum(count), 0)::float8 AS count, coalesce(sum(usd), 0) AS usd
      FROM (
        -- Transactions of other periods.
        SELECT 1 AS count, ${WORTH} AS usd FROM unmatched_theirs t WHERE NOT in_period
        UNION ALL
        -- The others moved no money of ours, whatever their status.
        SELECT CASE WHEN o.in_period THEN 0 ELSE 1 END, ${WORTH}
        FROM ours o JOIN pair p ON p.o = o.n JOIN theirs t ON t.n = p.t
        WHERE NOT o.in_period OR ((o.incoming OR NOT coalesce(o.moved, TRUE))
          AND (o.incoming OR t.word IN ('open', 'odd')))
      ) AS rows
    ) AS others
  ) AS theirs, (
    SELECT coalesce(sum(impact), 0) AS usd FROM difference
  ) AS findings`;

/**
 * Counts the payments missing in the listing. It is undocumented whether transfers and links are listed, and
 * the listing was limited to the period with its margin.
 */
function countUnlisted({ from, to, readId, settings }: Plan): Prisma.Sql {
  const margin = withMargin(from, to, settings);
  return Prisma.sql`SELECT count(*)::float8 AS count
    FROM pair p JOIN theirs t ON t.n = p.t AND t.read_id <> ${readId}::uuid JOIN ours o ON o.n = p.o
    WHERE o.in_period AND o.operation IN (SELECT operation FROM compared_operation WHERE always_listed)
      AND (t.at IS NULL OR (t.at >= ${margin.from}::timestamptz AND t.at < ${margin.to}::timestamptz))`;
}

/** Sums per day. A pair counts on the day of our payment. */
const DAYS = Prisma.sql`
  SELECT to_char(day, 'YYYY-MM-DD') AS day, sum(matched)::float8 AS matched,
    sum(ours_only)::float8 AS ours_only, sum(theirs_only)::float8 AS theirs_only,
    trim_scale(sum(ours_usd))::text AS ours_usd, trim_scale(sum(theirs_usd))::text AS theirs_usd
  FROM (
    SELECT day, CASE WHEN matched THEN count ELSE 0 END AS matched,
      CASE WHEN matched THEN 0 ELSE count END AS ours_only,
      0 AS theirs_only, ours_usd, theirs_usd
    FROM judged WHERE matched OR mo
    UNION ALL
    SELECT (when_at AT TIME ZONE 'UTC')::date, 0, 0, count(*), 0, sum(impact) FROM alone GROUP BY 1
  ) AS parts GROUP BY 1 ORDER BY 1`;

type TotalsRow = Omit<TotalsRecord, 'doubts' | 'wallets' | 'incomplete' | 'by_day'>;

export async function totalsOf(db: Client, plan: Plan, wallets: WalletResults): Promise<TotalsRecord> {
  await runAll(db, makeDoubts(plan));
  const { rows } = await db.query<TotalsRow>(Prisma.sql`${SUMS}, (${countUnlisted(plan)}) AS unlisted`);
  const [sums] = rows;
  if (!sums) throw new Error('the sums of a comparison are one row');
  const { rows: doubts } = await db.query<Omit<DoubtRecord, 'at'> & { at: Date | null }>(DOUBTS);
  const { rows: days } = await db.query<DayRecord>(DAYS);
  return {
    ...sums,
    doubts: doubts.map((doubt) => ({ ...doubt, at: doubt.at?.toISOString() ?? null })),
    wallets: wallets.statements,
    incomplete: [...(await listingFaults(db, plan)), ...faultsOf(sums), ...wallets.incomplete],
    by_day: days,
  };
}

/** Returns faults of the listing or of the comparison that the totals reveal. */
function faultsOf({ unlisted, residual_usd: residual }: TotalsRow): IncompleteRecord[] {
  const lacks: IncompleteRecord = {
    reason: 'listing_lacks_payouts',
    detail:
      `The upstream's listing lacks ${unlisted} payouts that the upstream returns when they are looked up ` +
      'by name, and may lack more. Start the run again later.',
  };
  const differs: IncompleteRecord = {
    reason: 'sums_differ',
    detail: `The totals are off by ${residual} US dollars. Do not rely on it. Tell the operator.`,
  };
  return [...(unlisted > 0 ? [lacks] : []), ...(Number(residual) === 0 ? [] : [differs])];
}
