import { Prisma } from '../../platform/database/generated/client';
import { COUNTED } from './settlement';
import { SUM_NAMES, SUMS } from './sums';

/** The sums of payouts from Postgres, in US dollars. */
export type SumRow = Record<(typeof SUM_COLUMNS)[number], string>;

export const SUM_COLUMNS = [...SUM_NAMES, 'fees_usd'] as const;

/** The columns of a payout in an entry of the search index. */
export interface PayoutColumns {
  usd: Prisma.Sql;
  /** Its last entry. Null for the usual one. */
  entry: Prisma.Sql;
  fee: Prisma.Sql;
}

/**
 * Returns the sums of payouts, as aggregates with their names.
 * @param state the state of their call.
 */
export function sumsOfPayouts({ usd, entry, fee }: PayoutColumns, state: Prisma.Sql): Prisma.Sql {
  const last = Prisma.sql`coalesce(${entry}, usual_entry(${state}))`;
  return Prisma.join([
    ...SUM_NAMES.map(
      (name) =>
        Prisma.sql`sum(${usd}) FILTER (WHERE ${isOneOf(last, SUMS[name].entries)}) AS ${Prisma.raw(name)}`,
    ),
    Prisma.sql`sum(${fee}) FILTER (WHERE ${isOneOf(last, COUNTED)}) AS fees_usd`,
  ]);
}

/**
 * Returns the sums of the payouts of one entry of the search index, as columns with their names. Almost all
 * entries have usual payouts only, which are summed as a whole.
 */
export function sumsOfEntry(state: Prisma.Sql): Prisma.Sql {
  const each = { usd: Prisma.sql`each.usd`, entry: Prisma.sql`each.entry`, fee: Prisma.sql`each.fee` };
  const usual = SUM_NAMES.map(
    (name) =>
      Prisma.sql`CASE WHEN ${isOneOf(Prisma.sql`usual_entry(${state})`, SUMS[name].entries)} THEN total_usd
        END`,
  );
  return Prisma.sql`LATERAL (
    SELECT ${Prisma.join([...usual, Prisma.sql`NULL::numeric`])} WHERE item_entry IS NULL
      AND item_fee_usd IS NULL
    UNION ALL
    SELECT ${sumsOfPayouts(each, state)} FROM unnest(item_usd, item_entry, item_fee_usd) AS each(usd, entry,
      fee)
    HAVING NOT (item_entry IS NULL AND item_fee_usd IS NULL)
  ) AS sums(${Prisma.raw(SUM_COLUMNS.join(', '))})`;
}

/** Returns the totals of columns named after the sums, as text. */
export const TOTALS = Prisma.join(
  SUM_COLUMNS.map((name) => Prisma.raw(`trim_scale(coalesce(sum(${name}), 0))::text AS ${name}`)),
);

function isOneOf(entry: Prisma.Sql, entries: readonly string[]): Prisma.Sql {
  return Prisma.sql`${entry} IN (${Prisma.join([...entries])})`;
}
