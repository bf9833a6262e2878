import { Prisma } from '../../platform/database/generated/client';
import { uuidTime } from '../../platform/database/uuid';
import { Conditions } from './filters';
import { ResultKind } from './search.dto';

/** Conditions and range of a search. */
export interface Scope {
  conditions: Conditions;
  /** Call IDs: `from` is inclusive, `to` is exclusive. */
  from?: string | undefined;
  to?: string | undefined;
}

/**
 * Payouts of an entry: their terms and amounts. Numbers are faster than unnest() of two arrays.
 * @param first 1, or 0 to include transactions without a certain payout, at position -1.
 */
const payoutsFrom = (first: Prisma.Sql) => Prisma.sql`(
  SELECT
    payouts[place + 1] AS payout, item_usd[place] AS usd, item_entry[place] AS entry,
    item_fee_usd[place] AS fee, place - 1 AS position
  FROM generate_series(${first}, cardinality(item_usd)) AS place)`;

export const PAYOUTS = payoutsFrom(Prisma.sql`1`);

/** Returns the condition of all matching calls, without an order. */
export function matching(scope: Scope): Prisma.Sql {
  const { conditions } = scope;
  const filters = [...withTerms(conditions, true), ...inTime(scope), ...conditions.others, ...inRange(scope)];
  return all([...filters, ...somePayout(conditions)]);
}

/** Returns the number of matches among matching calls. */
export function counted({ conditions: { ofPayouts: each } }: Scope, listed: ResultKind): Prisma.Sql {
  if (listed === 'calls') return Prisma.sql`count(*)`;
  if (each.length === 0) return Prisma.sql`coalesce(sum(cardinality(item_usd)), 0)`;
  return Prisma.sql`coalesce(sum((SELECT count(*) FROM ${PAYOUTS} AS each WHERE ${all(each)})), 0)`;
}

/**
 * Returns the matching payouts of matching calls. Position -1 is a call without payouts, or transactions
 * without a certain payout.
 */
export function countedPayouts({ conditions }: Scope, ref: string | undefined): Prisma.Sql {
  const first = ref === undefined ? Prisma.sql`least(1, cardinality(item_usd))` : Prisma.sql`0`;
  return Prisma.sql`(SELECT * FROM ${payoutsFrom(first)} AS each WHERE ${all(conditions.ofPayouts)})`;
}

/** Returns the condition that one payout of a call meets all conditions. */
export function somePayout({ ofPayouts: each, decided }: Conditions): Prisma.Sql[] {
  if (decided) return [];
  return [Prisma.sql`EXISTS (SELECT FROM ${PAYOUTS} AS each WHERE ${all(each)})`];
}

export function inRange({ from, to }: Omit<Scope, 'conditions'>): Prisma.Sql[] {
  return [
    ...(from === undefined ? [] : [Prisma.sql`call_id >= ${from}::uuid`]),
    ...(to === undefined ? [] : [Prisma.sql`call_id < ${to}::uuid`]),
  ];
}

/** Returns the condition of the weekly slices within the range. */
export function weeks({ from, to }: Scope): Prisma.Sql[] {
  return [
    ...(from === undefined ? [] : [Prisma.sql`slice >= search_week(${from}::uuid)`]),
    ...(to === undefined ? [] : [Prisma.sql`slice <= search_week(${to}::uuid)`]),
  ];
}

/** Maximum length in hours of a range to look up by hours. Whole weeks would have too many entries. */
const SHORT_HOURS = 72;

/** Returns the condition that an entry has the term of an hour or a week in the range. */
export function inTime(scope: Scope): Prisma.Sql[] {
  const { from, to } = scope;
  if (from === undefined && to === undefined) return [];
  if (from !== undefined && to !== undefined && hoursBetween(from, to) <= SHORT_HOURS)
    return [
      Prisma.sql`terms && ARRAY(SELECT 'hour:' || hour
        FROM generate_series(search_hour(${from}::uuid), search_hour(${to}::uuid)) AS hour)`,
    ];
  return [
    Prisma.sql`terms && ARRAY(SELECT 'week:' || slice FROM indexed_slice
      WHERE ${all([Prisma.sql`kind = 'week'`, ...weeks(scope)])})`,
  ];
}

function hoursBetween(from: string, to: string): number {
  return (uuidTime(to).getTime() - uuidTime(from).getTime()) / 3_600_000;
}

export function withTerms({ terms, anyOf, hints }: Conditions, hinted: boolean): Prisma.Sql[] {
  return [
    ...(terms.length === 0 ? [] : [Prisma.sql`terms @> ${terms}::text[]`]),
    ...[...anyOf, ...(hinted ? hints : [])].map((list) => Prisma.sql`terms && ${list}`),
  ];
}

export function all(conditions: Prisma.Sql[]): Prisma.Sql {
  return conditions.length === 0 ? Prisma.sql`TRUE` : Prisma.join(conditions, ' AND ');
}
