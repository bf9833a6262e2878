import { Prisma } from '../../platform/database/generated/client';
import { Client } from 'pg';
import { otherDoubts } from './ours';
import { runAll } from './connection';
import { Plan } from './plan';
import { harmless, plainWord } from './recipients';
import { DoubtKind, DoubtRecord, SumRecord } from './totals.dto';

/** The most doubts in the totals of a run. Their number is always complete. */
const MOST_SHOWN = 100;

/** `doubt`: what the period leaves in doubt. A call in doubt whose money moved by the listing is a finding instead. */
function makeDoubts(plan: Plan): Prisma.Sql[] {
  return [
    Prisma.sql`CREATE TEMP TABLE open_word AS
    SELECT n, upstream_ref, at, status, word, in_period, CASE WHEN incoming THEN 0 ELSE usd END AS usd
    FROM theirs WHERE word IN ('open', 'odd');
    ANALYZE open_word`,
    Prisma.sql`CREATE TEMP TABLE doubt AS
    SELECT CASE t.word WHEN 'open' THEN 'pending' WHEN 'odd' THEN 'ambiguous' ELSE 'in_doubt' END AS kind, o.call_id, o.position, o.operation,
      ${harmless(Prisma.sql`coalesce(t.upstream_ref, o.upstream_ref)`)} AS upstream_ref, ${plainWord(Prisma.sql`t.status`)} AS status, coalesce(t.at, o.at) AS at, coalesce(o.usd, t.usd) AS usd
    FROM ours o LEFT JOIN (pair p JOIN open_word t ON t.n = p.t) ON p.o = o.n
    WHERE o.in_period AND (t.n IS NOT NULL OR (o.outcome = 'unknown' AND o.n NOT IN (SELECT o_n FROM differing WHERE status_differs)))
    UNION ALL
    SELECT CASE t.word WHEN 'open' THEN 'pending' ELSE 'ambiguous' END, NULL, NULL, NULL, ${harmless(Prisma.sql`t.upstream_ref`)}, ${plainWord(Prisma.sql`t.status`)}, t.at, t.usd
    FROM (SELECT * FROM open_word WHERE NOT EXISTS (SELECT FROM pair p WHERE p.t = open_word.n) UNION ALL
      SELECT n, upstream_ref, at, status, word, in_period, abs(usd) FROM aside WHERE word IN ('open', 'odd')) AS t
    WHERE t.in_period
    UNION ALL
    SELECT 'in_doubt', c.call_id, NULL, c.operation, NULL, NULL, c.at, c.usd FROM (${otherDoubts(plan)}) AS c`,
  ];
}

/** Returns the sums of what is in doubt, and the oldest of it. */
export async function doubtsOf(
  db: Client,
  plan: Plan,
): Promise<Record<DoubtKind, SumRecord> & { doubts: DoubtRecord[] }> {
  await runAll(db, makeDoubts(plan));
  const { rows } = await db.query<SumRecord & { kind: DoubtKind }>(
    `SELECT kind, count(*)::float8 AS count, trim_scale(coalesce(sum(usd), 0))::text AS usd FROM doubt GROUP BY 1`,
  );
  const { rows: oldest } = await db.query<Omit<DoubtRecord, 'at'> & { at: Date | null }>(
    Prisma.sql`SELECT kind, call_id, position, operation, upstream_ref, status, at, trim_scale(usd)::text AS usd
     FROM doubt ORDER BY at, call_id, position, upstream_ref LIMIT ${MOST_SHOWN}`,
  );
  const doubts = oldest.map((doubt) => ({ ...doubt, at: doubt.at?.toISOString() ?? null }));
  const sum = (wanted: DoubtKind): SumRecord => {
    const { count, usd } = rows.find(({ kind }) => kind === wanted) ?? { count: 0, usd: '0' };
    return { count, usd };
  };
  return { in_doubt: sum('in_doubt'), pending: sum('pending'), ambiguous: sum('ambiguous'), doubts };
}
