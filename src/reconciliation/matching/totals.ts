import { Decimal } from 'decimal.js';
import { Client } from 'pg';
import { Prisma } from '../../platform/database/generated/client';
import { runAll } from '../book/connection';
import { IN_DOUBT, otherDoubts } from '../book/ours';
import { Plan, withMargin } from '../book/plan';
import { SET_ASIDE_WORTH, SUM_SET_ASIDE } from '../book/theirs';
import { listingFaults } from './entries/completeness';
import { WalletResults } from './entries/wallets';
import { harmless, plainWord } from './recipients';
import { DoubtKind, DoubtRecord, SumRecord, DayRecord, IncompleteRecord, TotalsRecord } from './totals.dto';

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

/** Returns the sums of the doubts, and the oldest ones. */
async function doubtsOf(
  db: Client,
  plan: Plan,
): Promise<Record<DoubtKind, SumRecord> & { doubts: DoubtRecord[] }> {
  await runAll(db, makeDoubts(plan));
  const { rows } = await db.query<SumRecord & { kind: DoubtKind }>(
    `SELECT kind, count(*)::float8 AS count, trim_scale(coalesce(sum(usd), 0))::text AS usd
     FROM doubt GROUP BY 1`,
  );
  const { rows: oldest } = await db.query<Omit<DoubtRecord, 'at'> & { at: Date | null }>(
    Prisma.sql`
     SELECT kind, call_id, position, operation, upstream_ref, status, at, trim_scale(usd)::text AS usd
     FROM doubt ORDER BY at, call_id, position, upstream_ref LIMIT ${MAX_DOUBTS}`,
  );
  const doubts = oldest.map((doubt) => ({ ...doubt, at: doubt.at?.toISOString() ?? null }));
  const sum = (of: DoubtKind): SumRecord => {
    const { count, usd } = rows.find(({ kind }) => kind === of) ?? { count: 0, usd: '0' };
    return { count, usd };
  };
  return { in_doubt: sum('in_doubt'), pending: sum('pending'), ambiguous: sum('ambiguous'), doubts };
}

/** Amount of a transaction with its fee. */
const WORTH = Prisma.sql`CASE WHEN t.word = 'not' OR t.incoming THEN 0
  ELSE coalesce(t.usd, 0) + coalesce(t.fee, 0) END`;

/** Sums each side from its own rows, independently of matches. Otherwise the residual would prove nothing. */
const SUMS = Prisma.sql`
  SELECT ours.count AS ours_count, ours.usd AS ours_usd,
    theirs.count AS theirs_count, theirs.usd AS theirs_usd,
    unlisted.count AS unlisted, ours.within,
    theirs.usd - ours.usd - findings.usd - ours.within AS residual
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

const MATCHED = Prisma.sql`
  SELECT rule, certainty, sum(count)::float8 AS count
  FROM judged WHERE matched GROUP BY 1, 2 ORDER BY 1, 2`;

const FINDINGS = Prisma.sql`
  SELECT category, count(*)::float8 AS count, sum(impact) AS usd
  FROM difference GROUP BY 1 ORDER BY 1`;

/** Sums per day. A pair counts on the day of our payment. */
const DAYS = Prisma.sql`
  SELECT to_char(day, 'YYYY-MM-DD') AS day, sum(matched)::float8 AS matched,
    sum(ours_only)::float8 AS ours_only, sum(theirs_only)::float8 AS theirs_only,
    sum(ours_usd) AS ours_usd, sum(theirs_usd) AS theirs_usd
  FROM (
    SELECT day, CASE WHEN matched THEN count ELSE 0 END AS matched,
      CASE WHEN matched THEN 0 ELSE count END AS ours_only,
      0 AS theirs_only, ours_usd, theirs_usd
    FROM judged WHERE matched OR mo
    UNION ALL
    SELECT (when_at AT TIME ZONE 'UTC')::date, 0, 0, count(*), 0, sum(impact) FROM alone GROUP BY 1
  ) AS parts GROUP BY 1 ORDER BY 1`;

interface TotalsRow {
  unlisted: number;
  ours_count: number;
  ours_usd: string;
  theirs_count: number;
  theirs_usd: string;
  within: string;
  residual: string;
}

export async function totalsOf(db: Client, plan: Plan, wallets: WalletResults): Promise<TotalsRecord> {
  const { rows } = await db.query<TotalsRow>(Prisma.sql`${SUMS}, (${countUnlisted(plan)}) AS unlisted`);
  const [sums] = rows;
  if (!sums) throw new Error('the sums of a comparison are one row');
  const matched = (await db.query<{ rule: string; certainty: string; count: number }>(MATCHED)).rows;
  const findings = (await db.query<{ category: string; count: number; usd: string }>(FINDINGS)).rows;
  const days = (await db.query<DayRecord>(DAYS)).rows;
  const aside = (await db.query<{ flow: string; count: number; usd: string }>(SUM_SET_ASIDE)).rows;
  return {
    ours: { count: sums.ours_count, usd: plain(sums.ours_usd) },
    theirs: { count: sums.theirs_count, usd: plain(sums.theirs_usd) },
    matched: {
      count: matched.reduce((sum, { count }) => sum + count, 0),
      by_rule: countBy(matched, ({ rule }) => rule),
      by_certainty: countBy(matched, ({ certainty }) => certainty),
    },
    findings: {
      count: findings.reduce((sum, { count }) => sum + count, 0),
      by_category: Object.fromEntries(
        findings.map(({ category, count, usd }) => [category, { count, usd: plain(usd) }]),
      ),
    },
    ...(await doubtsOf(db, plan)),
    wallets: wallets.statements,
    aside: Object.fromEntries(aside.map(({ flow, count, usd }) => [flow, { count, usd: plain(usd) }])),
    incomplete: [...(await listingFaults(db, plan)), ...faultsOf(sums), ...wallets.incomplete],
    unlisted: sums.unlisted,
    within_tolerance_usd: plain(sums.within),
    residual_usd: plain(sums.residual),
    by_day: days.map((day) => ({ ...day, ours_usd: plain(day.ours_usd), theirs_usd: plain(day.theirs_usd) })),
  };
}

function countBy<Row extends { count: number }>(
  rows: Row[],
  name: (row: Row) => string,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) counts[name(row)] = (counts[name(row)] ?? 0) + row.count;
  return counts;
}

/** Returns faults of the listing or of the comparison that the totals reveal. */
function faultsOf({ unlisted, residual }: TotalsRow): IncompleteRecord[] {
  const lacks: IncompleteRecord = {
    reason: 'listing_lacks_payouts',
    detail:
      `The upstream's listing lacks ${unlisted} payouts that the upstream returns when they are looked up ` +
      'by name, and may lack more. Start the run again later.',
  };
  const differs: IncompleteRecord = {
    reason: 'sums_differ',
    detail: `The totals are off by ${plain(residual)} US dollars. Do not rely on it. Tell the operator.`,
  };
  return [...(unlisted > 0 ? [lacks] : []), ...(Number(residual) === 0 ? [] : [differs])];
}

/** Formats a numeric without trailing zeros. */
function plain(amount: string): string {
  return new Decimal(amount).toFixed();
}
