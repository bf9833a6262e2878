import { Client } from 'pg';
import { namedCallSql } from '../../../operations/catalogue/payout-id';
import { CLOCK_SKEW_SECONDS } from '../../../operations/lifecycle/upstream-clock';
import { Prisma } from '../../../platform/database/generated/client';
import { RunSettings } from '../plan';

/** Maximum number of rows of one recipient and amount that are compared one by one. */
const MOST_ROWS = 200;

/** Whether our row was sent with an ID of ours. */
export const HAS_OWN_ID = Prisma.sql`coalesce(starts_with(reference, call_id::text), FALSE)`;

/** Start and end of the window for their time. */
export const BEFORE = Prisma.sql`make_interval(secs => ${CLOCK_SKEW_SECONDS})`;
export const after = (settings: RunSettings) =>
  Prisma.sql`make_interval(secs => ${settings.timeToleranceSeconds})`;

/** A payout and a transaction that are alike. */
interface AlikeRow {
  o: number;
  t: string;
  isPair: boolean;
}

/**
 * Exchanges partners until no payout can get one more transaction. The rules for what is alike take the rows
 * in turn, so a payout that only one transaction fits may find it taken by a payout that another one fits.
 * Only recipients and amounts with rows left on both sides are compared, which are few.
 */
export async function exchangePartners(db: Client, settings: RunSettings): Promise<void> {
  const { rows } = await db.query<AlikeRow>(selectAlike(settings));
  const fitting = new Map<number, string[]>();
  const owners = new Map<string, number>();
  for (const { o, t, isPair } of rows) {
    fitting.set(o, [...(fitting.get(o) ?? []), t]);
    if (isPair) owners.set(t, o);
  }
  const before = new Map(owners);
  const taken = new Set(owners.values());
  for (const o of fitting.keys()) if (!taken.has(o)) findPartner(o, { fitting, owners, seen: new Set() });
  const changed = [...owners].filter(([t, o]) => before.get(t) !== o);
  if (changed.length > 0) await db.query(replacePairs(changed));
}

interface Search {
  fitting: ReadonlyMap<number, string[]>;
  owners: Map<string, number>;
  seen: Set<string>;
}

/** Finds a transaction for a payout, by an augmenting path. */
function findPartner(o: number, search: Search): boolean {
  const { fitting, owners, seen } = search;
  return (fitting.get(o) ?? []).some((t) => {
    if (seen.has(t)) return false;
    seen.add(t);
    const owner = owners.get(t);
    if (owner !== undefined && !findPartner(owner, search)) return false;
    owners.set(t, o);
    return true;
  });
}

/** Selects what is alike, for recipients and amounts with rows left on both sides. */
function selectAlike(settings: RunSettings): Prisma.Sql {
  return Prisma.sql`
    WITH both_left AS MATERIALIZED (
      SELECT key, usd FROM unmatched_ours INTERSECT SELECT key, usd FROM unmatched_theirs
    ), pairs AS MATERIALIZED (
      SELECT o.key, o.usd, p.o, p.t FROM pair p JOIN ours o ON o.n = p.o JOIN both_left USING (key, usd)
      WHERE p.rule = 'fingerprint'
    ), mine AS MATERIALIZED (
      SELECT key, usd, o AS n FROM pairs UNION ALL SELECT key, usd, n FROM unmatched_ours
    ), other AS MATERIALIZED (
      SELECT key, usd, t AS n FROM pairs UNION ALL SELECT key, usd, n FROM unmatched_theirs
    ), heap AS MATERIALIZED (
      SELECT key, usd FROM (TABLE mine UNION ALL TABLE other) AS members JOIN both_left USING (key, usd)
      GROUP BY 1, 2 HAVING count(*) <= ${MOST_ROWS}::integer
    )
    SELECT o.n AS o, t.n::text AS t, pairs.o IS NOT NULL AS "isPair"
    FROM heap JOIN mine USING (key, usd) JOIN other USING (key, usd)
    JOIN ours o ON o.n = mine.n JOIN theirs t ON t.n = other.n
    JOIN compared_operation c ON c.operation = o.operation
    LEFT JOIN pairs ON pairs.o = o.n AND pairs.t = t.n
    WHERE (t.type IS NULL OR t.type = c.type) AND NOT (t.unpaid AND c.paid_at_once)
      AND coalesce(o.reference = t.reference, TRUE)
      AND NOT (o.operation IN (SELECT operation FROM shows_id)
        AND (t.reference IS NULL OR coalesce(starts_with(o.reference, o.call_id::text), FALSE)))
      AND t.at BETWEEN o.at - ${BEFORE} AND o.at + ${after(settings)}
      AND NOT EXISTS (SELECT FROM intent WHERE id = ${Prisma.raw(namedCallSql('t.reference'))})
      AND NOT EXISTS (SELECT FROM answered a WHERE a.n = t.n AND (a.surplus OR a.call_id <> o.call_id))
    ORDER BY o.tier, o.at, o.call_id, o.position, t.at, t.n`;
}

function replacePairs(changed: [t: string, o: number][]): Prisma.Sql {
  const [ours, theirs] = [changed.map(([, o]) => o), changed.map(([t]) => t)];
  return Prisma.sql`
    WITH dropped AS (DELETE FROM pg_temp.pair WHERE o = ANY (${ours}::integer[])),
    mine AS (DELETE FROM pg_temp.unmatched_ours WHERE n = ANY (${ours}::integer[])),
    other AS (DELETE FROM pg_temp.unmatched_theirs WHERE n = ANY (${theirs}::bigint[]))
    INSERT INTO pg_temp.pair
    SELECT o, t, 'fingerprint', 'possible' FROM unnest(${ours}::integer[], ${theirs}::bigint[]) AS u(o, t)`;
}
