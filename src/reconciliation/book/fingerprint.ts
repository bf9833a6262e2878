import { Client } from 'pg';
import { namedCallSql } from '../../operations/catalogue/payout-id';
import { Prisma } from '../../platform/database/generated/client';
import { DROP_ANSWERED } from './answered';
import { runAll } from './connection';
import { after, BEFORE, exchangePartners, HAS_OWN_ID } from './pairing/exchange';
import { RunSettings } from './plan';
import { SETTLE } from './rules';

/** Criteria by which rows of both sides form a class. */
interface Likeness {
  /** SQL over a row of ours and a row of theirs. The two must be equal. Null excludes a row. */
  ours: Prisma.Sql;
  theirs: Prisma.Sql;
  /** Whether amounts may differ within the tolerance. `dropDistant` compares each pair again. */
  near: boolean;
  /** Certainty if a row has only one possible partner. */
  certainty: 'certain' | 'probable' | 'possible';
  /** Whether our row needs another rule if its operation shows our IDs. */
  needsId: Prisma.Sql;
}

const likeness = (ours: Prisma.Sql, theirs: Prisma.Sql, more: Partial<Likeness> = {}): Likeness => ({
  ours,
  theirs,
  near: false,
  certainty: 'probable',
  needsId: HAS_OWN_ID,
  ...more,
});

/** The recipient and the kind. */
const KEY = Prisma.sql`key || ' ' || kind`;
const WITH_REFERENCE = Prisma.sql`${KEY} || ' ' || reference`;
const WITHOUT_REFERENCE = Prisma.sql`CASE WHEN reference IS NULL THEN ${KEY} END`;

/** The same reference, or none on one side. Another reference is another payment. */
const ALIKE = [
  likeness(WITH_REFERENCE, WITH_REFERENCE, { certainty: 'certain' }),
  likeness(KEY, WITHOUT_REFERENCE, { needsId: Prisma.sql`TRUE` }),
  likeness(WITHOUT_REFERENCE, KEY),
];
const ANY_REFERENCE = likeness(KEY, KEY, { certainty: 'possible' });
const NEAR = likeness(KEY, KEY, { near: true });
/** The recipient was erased here, so any recipient fits. */
const ERASED = likeness(
  Prisma.sql`CASE WHEN key IS NULL THEN kind END`,
  Prisma.sql`CASE WHEN key IS NULL THEN kind END`,
  { certainty: 'possible' },
);

/**
 * Sets `kind` to the kind that a transaction can be of, among those of our unmatched payouts to its recipient
 * with its amount: first one with its reference, then the earliest. The upstream uses one type for several
 * kinds, and may omit it. A payout is never unpaid.
 */
const kindTheirs = (isSameAmount: Prisma.Sql) => Prisma.sql`
  UPDATE pg_temp.unmatched_theirs t SET kind = k.kind
  FROM (
    SELECT DISTINCT ON (t.n) t.n, o.kind FROM unmatched_theirs t
    JOIN (
      SELECT key, usd, kind, tier, reference, min(at) AS at FROM unmatched_ours GROUP BY 1, 2, 3, 4, 5
    ) AS o ON coalesce(o.key, '') = coalesce(t.key, '') AND ${isSameAmount}
    JOIN (SELECT DISTINCT kind, type, paid_at_once FROM compared_operation) AS c ON c.kind = o.kind
    WHERE t.kind IS NULL AND (t.type IS NULL OR t.type = c.type) AND NOT (t.unpaid AND c.paid_at_once)
    ORDER BY t.n, o.reference = t.reference DESC NULLS LAST, o.tier, o.at, o.kind
  ) AS k WHERE k.n = t.n;
  ANALYZE unmatched_theirs`;

/**
 * `shows_id`: operations whose transactions show the IDs that the proxy sent. A transaction of theirs without
 * an ID is not ours. An operation with a matched transaction that lacks its ID is left out, because its
 * upstream drops the field.
 */
export const MAKE_SHOWS_ID = Prisma.sql`
  DROP TABLE IF EXISTS shows_id;
  CREATE TEMP TABLE shows_id AS
  SELECT o.operation FROM pair p JOIN ours o ON o.n = p.o JOIN theirs t ON t.n = p.t
  WHERE starts_with(o.reference, o.call_id::text)
    AND o.operation IN (SELECT operation FROM unmatched_ours WHERE ${HAS_OWN_ID})
  GROUP BY o.operation HAVING bool_and(t.reference IS NOT NULL)`;

/**
 * The rule for payouts and transactions that are alike: the same kind, recipient and amount, and a time that
 * fits. They form a class. Its members are interchangeable, so they are matched one to one in the order of
 * time, and as many as possible. Transactions with an ID of our calls that the rules for names left belong to
 * no other call, and neither do those of `answered`. Needs `shows_id`.
 */
export async function matchAlike(db: Client, settings: RunSettings): Promise<void> {
  await db.query(kindTheirs(Prisma.sql`o.usd = t.usd`));
  for (const one of ALIKE) await matchLikeness(db, settings, one);
  await exchangePartners(db, settings);
}

/** Matches rows that are alike except for one fact: the reference, the amount, or an erased recipient. */
export async function matchSimilar(db: Client, settings: RunSettings): Promise<void> {
  await matchLikeness(db, settings, ANY_REFERENCE);
  if (/[1-9]/.test(settings.amountToleranceUsd)) {
    await db.query(kindTheirs(Prisma.sql`TRUE`));
    await matchLikeness(db, settings, NEAR);
  }
  await matchLikeness(db, settings, ERASED);
}

async function matchLikeness(db: Client, settings: RunSettings, one: Likeness): Promise<void> {
  for (const tier of await tiersOf(db, one)) await matchTier(db, settings, one, tier);
}

/**
 * Returns the tiers of rows that look alike: payments with moved money first, then calls in doubt, rejected
 * calls, and calls that were not executed.
 */
async function tiersOf(db: Client, { ours }: Likeness): Promise<number[]> {
  const { rows } = await db.query<{ tier: number }>(
    Prisma.sql`
    SELECT DISTINCT tier FROM unmatched_ours WHERE ${ours} IS NOT NULL AND usd IS NOT NULL ORDER BY tier`,
  );
  return rows.map(({ tier }) => tier);
}

async function matchTier(db: Client, settings: RunSettings, likeness: Likeness, tier: number): Promise<void> {
  await runAll(db, makeEvents(settings, likeness, tier));
  for (;;) {
    await runAll(db, pairIslands(settings));
    const { rowCount } = await db.query(TAKE_OUT);
    await db.query(CLOSE_ISLANDS);
    if (rowCount === 0) break;
  }
  if (likeness.near) await db.query(dropDistant(settings));
  await db.query(DROP_ANSWERED);
  await db.query(SETTLE);
}

/**
 * `event`: the rows of both sides with a possible partner, in islands. Within a group, events that are
 * further apart than the window cannot match. Each island between two such gaps can be matched on its own.
 */
function makeEvents(
  settings: RunSettings,
  { ours, theirs, near, certainty, needsId }: Likeness,
  tier: number,
): Prisma.Sql[] {
  const wait = after(settings);
  const group = near ? Prisma.sql`g, heap` : Prisma.sql`g, usd`;
  const sides = Prisma.sql`
    SELECT TRUE AS mine, n::bigint, ${ours} AS g, usd, at,
      row_number() OVER (ORDER BY at, call_id, position) AS nth
    FROM unmatched_ours
    WHERE tier = ${tier}::integer
      AND NOT (${needsId} AND operation IN (SELECT operation FROM shows_id))
    UNION ALL
    SELECT FALSE, n, ${theirs}, usd, at, row_number() OVER (ORDER BY at, n)
    FROM unmatched_theirs
    WHERE NOT EXISTS (SELECT FROM intent WHERE id = ${Prisma.raw(namedCallSql('reference'))})
      AND n NOT IN (SELECT n FROM answered WHERE surplus)`;
  const rows = Prisma.sql`(${sides}) AS sides WHERE g IS NOT NULL AND usd IS NOT NULL AND at IS NOT NULL`;
  const heaps = Prisma.sql`
          SELECT *, sum(step) OVER (PARTITION BY g ORDER BY usd, mine, n) AS heap
          FROM (
            SELECT *, CASE
              WHEN usd - lag(usd) OVER (PARTITION BY g ORDER BY usd, mine, n)
                > ${settings.amountToleranceUsd}::numeric THEN 1 ELSE 0 END AS step
            FROM ${rows}
          ) AS steps`;
  const window = (from: Prisma.Sql, to: Prisma.Sql) =>
    Prisma.sql`OVER (PARTITION BY ${group} ORDER BY at RANGE BETWEEN ${from} PRECEDING AND ${to} FOLLOWING)`;
  return [
    Prisma.sql`DROP TABLE IF EXISTS event`,
    Prisma.sql`CREATE TEMP TABLE event AS
    SELECT *, sum(CASE WHEN gap THEN 1 ELSE 0 END) OVER (ORDER BY ${group}, at, mine, nth) AS island
    FROM (
      SELECT *,
        coalesce(at - lag(at) OVER (PARTITION BY ${group} ORDER BY at, mine, nth)
          > greatest(${BEFORE}, ${wait}), TRUE) AS gap,
        CASE WHEN others = 1 THEN ${certainty} ELSE 'possible' END AS certainty
      FROM (
        SELECT *, CASE
          WHEN mine THEN count(*) FILTER (WHERE NOT mine) ${window(BEFORE, wait)}
          ELSE count(*) FILTER (WHERE mine) ${window(wait, BEFORE)} END AS others
        FROM (${near ? heaps : Prisma.sql`SELECT * FROM ${rows}`}) AS heaps
      ) AS partners
      WHERE others > 0
    ) AS gaps`,
    Prisma.sql`ANALYZE event`,
  ];
}

/**
 * Pairs both sides of an island by time: first with first, second with second. All windows have the same
 * length, so no other assignment has more pairs within their windows. If a pair is outside its window, the
 * earlier row of the two has no partner: every possible partner is earlier still and is taken. The pairs
 * before it are final. The rest is ranked again without that row.
 */
function pairIslands(settings: RunSettings): Prisma.Sql[] {
  const side = (mine: Prisma.Sql) => Prisma.sql`(
    SELECT *, row_number() OVER (PARTITION BY island ORDER BY at, nth) AS turn FROM event WHERE ${mine})`;
  return [
    Prisma.sql`DROP TABLE IF EXISTS ranked`,
    Prisma.sql`CREATE TEMP TABLE ranked AS
    SELECT island, turn, o, t, o_at, t_at, certainty, wrong,
      bool_or(wrong) OVER (PARTITION BY island ORDER BY turn) AS bad
    FROM (
      SELECT o.island, o.turn, o.n AS o, t.n AS t, o.at AS o_at, t.at AS t_at,
        CASE WHEN o.certainty = t.certainty THEN o.certainty ELSE 'possible' END AS certainty,
        t.at < o.at - ${BEFORE} OR t.at > o.at + ${after(settings)} AS wrong
      FROM ${side(Prisma.sql`mine`)} AS o JOIN ${side(Prisma.sql`NOT mine`)} AS t USING (island, turn)
    ) AS pairs`,
    Prisma.sql`INSERT INTO pg_temp.found SELECT o, t, 'fingerprint', certainty FROM ranked WHERE NOT bad;
    DELETE FROM pg_temp.event WHERE mine AND n IN (SELECT o FROM found);
    DELETE FROM pg_temp.event WHERE NOT mine AND n IN (SELECT t FROM found)`,
  ];
}

/** Removes the earlier row of the first pair outside its window, because it has no partner. */
const TAKE_OUT = Prisma.sql`
  WITH first AS MATERIALIZED (
    SELECT DISTINCT ON (island) o, t, o_at < t_at AS mine FROM ranked WHERE wrong ORDER BY island, turn
  )
  DELETE FROM pg_temp.event
  USING (SELECT mine, CASE WHEN mine THEN o ELSE t END AS n FROM first) AS earlier
  WHERE event.mine = earlier.mine AND event.n = earlier.n`;

/** Removes islands whose pairs are all within their windows. These are final. */
const CLOSE_ISLANDS = Prisma.sql`
  DELETE FROM pg_temp.event WHERE island NOT IN (SELECT island FROM ranked WHERE bad)`;

/** Drops pairs with distant amounts. In a heap, each amount is near its neighbours only. */
function dropDistant({ amountToleranceUsd }: RunSettings): Prisma.Sql {
  return Prisma.sql`
    DELETE FROM pg_temp.found USING unmatched_ours o, unmatched_theirs t
    WHERE o.n = found.o AND t.n = found.t AND abs(t.usd - o.usd) > ${amountToleranceUsd}::numeric`;
}
