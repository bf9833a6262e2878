import { Prisma } from '../../../platform/database/generated/client';

/** Order in which our rows that look alike get a partner. Payouts with moved money come first. */
export const OURS_FIRST = Prisma.sql`tier, at, call_id, position`;
export const THEIRS_FIRST = Prisma.sql`word = 'not', at NULLS LAST, n`;

/** Columns of ours and of theirs that must be equal. Null excludes a row. */
export type EqualColumns = [ours: Prisma.Sql, theirs: Prisma.Sql];

export interface RankRule {
  rule: 'own_id' | 'batch_ref' | 'reference';
  /** `unmatched_theirs`, or some rows of it. */
  theirs?: Prisma.Sql;
  equal: EqualColumns[];
  /** Certainty if each side has as many of these rows, which are interchangeable, and if not. */
  certainty: { equal: Prisma.Sql | string; unequal: string };
  /** Whether to match only one row on each side. */
  singleOnly?: boolean;
  /** A further condition on the rows `o` and `t`. */
  where?: Prisma.Sql;
}

/** Names of the columns that must be equal. */
const NAMES = [Prisma.sql`g0`, Prisma.sql`g1`, Prisma.sql`g2`];

/** Pairs equal rows by time, which gives as many as possible a partner. */
export function byRank(one: RankRule): Prisma.Sql {
  const { rule, theirs = Prisma.sql`unmatched_theirs`, equal, certainty, singleOnly, where = ALWAYS } = one;
  const used = NAMES.slice(0, equal.length);
  const names = Prisma.join(used);
  const ranked = (table: Prisma.Sql, columns: Prisma.Sql[], order: Prisma.Sql) => Prisma.sql`(
    SELECT s.*, row_number() OVER same AS nth, count(*) OVER (PARTITION BY ${names}) AS many
    FROM (
      SELECT *, ${Prisma.join(used.map((name, index) => Prisma.sql`${columns[index]} AS ${name}`))}
      FROM ${table} AS s
    ) AS s
    WHERE num_nulls(${names}) = 0
    WINDOW same AS (PARTITION BY ${names} ORDER BY ${order}))`;
  const columns = (side: 0 | 1) => equal.map((pair) => pair[side]);
  const single = singleOnly ? Prisma.sql`o.many = 1 AND t.many = 1` : ALWAYS;
  return Prisma.sql`
    INSERT INTO pg_temp.found
    SELECT o.n, t.n, ${rule}, CASE WHEN o.many = t.many THEN ${certainty.equal} ELSE ${certainty.unequal} END
    FROM ${ranked(Prisma.sql`unmatched_ours`, columns(0), OURS_FIRST)} AS o
    JOIN ${ranked(theirs, columns(1), THEIRS_FIRST)} AS t USING (${names}, nth)
    WHERE ${single} AND ${where}`;
}

const ALWAYS = Prisma.sql`TRUE`;
