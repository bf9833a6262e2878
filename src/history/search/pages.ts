import { Prisma } from '../../platform/database/generated/client';
import { Cursor, Listed, Sort } from './cursor';
import { Conditions } from './filters';
import { Place } from '../records/page';

/** What is looked for. */
export interface Scope {
  conditions: Conditions;
  /** Ids from this one on, below that one, and not above that one. */
  from?: string | undefined;
  to?: string | undefined;
  upTo?: string | undefined;
}

/** And in which order. */
export interface Query extends Scope {
  listed: Listed;
  sort: Sort;
  /** Newest or largest first, or the other way round. */
  direction: 'asc' | 'desc';
  /** Between which amounts in US dollars, by amount. */
  least?: string | undefined;
  most?: string | undefined;
}

/** What a page needs to know of the index's columns. */
interface Order {
  /** The order of an index: amounts, calls, payouts. */
  scanned: Prisma.Sql[];
  /** How many of them tell results apart: a call is listed once, whichever of its payouts was found. */
  telling: number;
  slices: 'week' | 'item' | 'total';
  /** The slice that a cursor is in. */
  sliceOf: (cursor: Cursor) => Prisma.Sql;
}

/** Of the weeks that a page may be in: the first may have hardly begun, or hardly be left. */
const WEEKS_BY_HOURS = 2;
const HOURS_OF_A_WEEK = 168;

const CALL = Prisma.sql`call_id`;
const SLICE = Prisma.sql`slice`;
const POSITION = Prisma.sql`position`;
const USD = { items: Prisma.sql`coalesce(item_usd, -1)`, calls: Prisma.sql`coalesce(total_usd, -1)` };

function orderOf({ listed, sort }: Query): Order {
  if (sort === 'time') {
    const sliceOf = ({ id }: Cursor) => Prisma.sql`search_week(${id}::uuid)`;
    return { scanned: [CALL, POSITION], telling: listed === 'calls' ? 1 : 2, slices: 'week', sliceOf };
  }
  const sliceOf = ({ usd = '-1' }: Cursor) => Prisma.sql`search_step(nullif(${usd}::numeric, -1))`;
  const telling = listed === 'calls' ? 2 : 3;
  return { scanned: [USD[listed], CALL, POSITION], telling, slices: listed === 'calls' ? 'total' : 'item', sliceOf };
}

/** A row of a page: as much of it as its order has. */
export interface FoundPlace extends Place {
  usd: string | null;
}

/**
 * Reads on in the order of an index, `budget` rows at most, and keeps what the conditions hold for. Where they hold for one
 * row of a hundred this finds a page at once; where they hold for fewer it may find none.
 */
export function walked(query: Query, after: Cursor | undefined, limit: number, budget: number): Prisma.Sql {
  const { conditions, sort } = query;
  const order = orderOf(query);
  const [amount = CALL] = order.scanned;
  // Where it begins is all that the index is told. By time, a planner that knew the other end too might rather sort the whole
  // range; by amount, a range of ids lies scattered, and to look for it could take the whole index.
  const begin = sort === 'time' ? beginning(query) : inAmounts(query, amount);
  return Prisma.sql`
    SELECT ${results(query)} FROM (
      SELECT DISTINCT ${Prisma.join(names(order))} FROM (
        SELECT *, ${amount} AS usd, call_id AS id FROM search_entry WHERE ${all([...begin, ...beyond(query, order, after)])}
        ORDER BY ${sorted(order.scanned, query)} LIMIT ${budget}
      ) AS walked WHERE ${all([...withTerms(conditions, false), ...conditions.others, ...inRange(query)])}
      ORDER BY ${sorted(names(order), query)} LIMIT ${limit}
    ) AS found`;
}

/**
 * Looks into one slice after the other, by the index over the terms, until the page is full. What a slice costs depends on what
 * is found in it, and on how long the shortest list of a term is there.
 */
export function sliced(query: Query, after: Cursor | undefined, limit: number): Prisma.Sql {
  const order = orderOf(query);
  const page = inOrder(query, order, [Prisma.sql`terms @> ARRAY[s.term]`, ...rowsOf(query, order, after)], limit);
  return Prisma.sql`
    SELECT ${results(query)} FROM (
      SELECT ${Prisma.join(names(order))} FROM (
        ${order.slices === 'week' ? hoursAndWeeks(query, order, after) : stepTerms(query, order, after)}
      ) AS s CROSS JOIN LATERAL (${page}) AS page ORDER BY ${sorted([SLICE, ...names(order)], query)} LIMIT ${limit}
    ) AS found`;
}

/** Reads all that is found: where that is little, to look into one slice after the other would read it once for each. */
export function whole(query: Query, after: Cursor | undefined, limit: number): Prisma.Sql {
  const order = orderOf(query);
  return Prisma.sql`SELECT ${results(query)} FROM (${inOrder(query, order, rowsOf(query, order, after), limit)}) AS found`;
}

function inOrder(query: Query, order: Order, conditions: Prisma.Sql[], limit: number): Prisma.Sql {
  const [amount = CALL] = order.scanned;
  return Prisma.sql`
    SELECT DISTINCT ${Prisma.join(names(order))} FROM (
      SELECT position, ${amount} AS usd, call_id AS id FROM search_entry
      WHERE ${all(conditions)} OFFSET 0 -- by the terms, not in the order of another index
    ) AS matching ORDER BY ${sorted(names(order), query)} LIMIT ${limit}`;
}

/** The rows that may be on the page. */
function rowsOf(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql[] {
  const { conditions, sort } = query;
  const [amount = CALL] = order.scanned;
  return [
    ...withTerms(conditions, true),
    ...conditions.others,
    ...inRange(query),
    ...beyond(query, order, after),
    ...(sort === 'time' ? [] : [...inWeeks(query), ...inAmounts(query, amount)]),
  ];
}

/** Steps of amounts, each by its term. */
function stepTerms(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql {
  return Prisma.sql`
    SELECT slice, kind || ':' || slice AS term FROM search_slice
    WHERE ${all(slicesOf(query, order, after))} ORDER BY ${sorted([SLICE], query)}`;
}

/**
 * Weeks, the first of them hour by hour: all that a slice has is read, so where much is found a week would be too long, and where
 * little is found hours would be too many; to look into one that holds nothing takes some microseconds.
 */
function hoursAndWeeks(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql {
  return Prisma.sql`
    SELECT slice * ${HOURS_OF_A_WEEK} + hour AS slice,
      CASE WHEN by_hours THEN 'hour:' || (slice * ${HOURS_OF_A_WEEK} + hour) ELSE 'week:' || slice END AS term
    FROM (
      SELECT slice, row_number() OVER (ORDER BY ${sorted([SLICE], query)}) <= ${WEEKS_BY_HOURS} AS by_hours
      FROM search_slice WHERE ${all(slicesOf(query, order, after))}
    ) AS weeks CROSS JOIN LATERAL generate_series(0, CASE WHEN by_hours THEN ${HOURS_OF_A_WEEK - 1} ELSE 0 END) AS hour
    ORDER BY ${sorted([SLICE], query)}`;
}

/** The slices that a page may be in. */
function slicesOf(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql[] {
  const { direction, sort, least, most } = query;
  const than = direction === 'desc' ? Prisma.sql`<=` : Prisma.sql`>=`;
  return [
    Prisma.sql`kind = ${order.slices}::text`,
    ...(after ? [Prisma.sql`slice ${than} ${order.sliceOf(after)}`] : []),
    ...(sort === 'time' ? weeks(query) : []),
    ...(least === undefined ? [] : [Prisma.sql`slice >= search_step(${least}::numeric)`]),
    ...(most === undefined ? [] : [Prisma.sql`slice BETWEEN -9999 AND search_step(${most}::numeric)`]),
  ];
}

/** All that is found, without an order. */
export function matching(scope: Scope): Prisma.Sql {
  const { conditions } = scope;
  return all([...withTerms(conditions, true), ...inWeeks(scope), ...conditions.others, ...inRange(scope)]);
}

const NAMES = ['usd', 'id', 'position'].map((name) => Prisma.raw(name));

/** The names of what tells results apart, in the order in which they are sorted. */
function names({ scanned, telling }: Order): Prisma.Sql[] {
  return NAMES.slice(NAMES.length - scanned.length).slice(0, telling);
}

function results({ listed, sort }: Query): Prisma.Sql {
  const usd = sort === 'amount' ? Prisma.sql`usd::text AS usd` : Prisma.sql`NULL AS usd`;
  const position = listed === 'items' ? POSITION : Prisma.sql`NULL::integer AS position`;
  return Prisma.sql`id::text AS id, ${position}, ${usd}`;
}

function sorted(columns: Prisma.Sql[], { direction }: Query): Prisma.Sql {
  return Prisma.join(
    columns.map((column) => Prisma.sql`${column} ${direction === 'desc' ? Prisma.sql`DESC` : Prisma.sql`ASC`}`),
  );
}

function beyond({ direction, sort }: Query, { scanned, telling }: Order, after: Cursor | undefined): Prisma.Sql[] {
  if (!after) return [];
  const { id, position = -1, usd = '-1' } = after;
  const values = [
    ...(sort === 'amount' ? [Prisma.sql`${usd}::numeric`] : []),
    Prisma.sql`${id}::uuid`,
    Prisma.sql`${position}::integer`,
  ];
  const columns = Prisma.join(scanned.slice(0, telling));
  const than = direction === 'desc' ? Prisma.sql`<` : Prisma.sql`>`;
  return [Prisma.sql`(${columns}) ${than} (${Prisma.join(values.slice(0, telling))})`];
}

function inRange({ from, to, upTo }: Omit<Scope, 'conditions'>): Prisma.Sql[] {
  return [
    ...(from === undefined ? [] : [Prisma.sql`call_id >= ${from}::uuid`]),
    ...(to === undefined ? [] : [Prisma.sql`call_id < ${to}::uuid`]),
    ...(upTo === undefined ? [] : [Prisma.sql`call_id <= ${upTo}::uuid`]),
  ];
}

/** The end of the range that is read first. */
function beginning({ direction, from, to, upTo }: Query): Prisma.Sql[] {
  return inRange(direction === 'desc' ? { to, upTo } : { from });
}

/** None at all is -1. */
function inAmounts({ least, most }: Query, amount: Prisma.Sql): Prisma.Sql[] {
  return [
    ...(least === undefined ? [] : [Prisma.sql`${amount} >= ${least}::numeric`]),
    ...(most === undefined ? [] : [Prisma.sql`${amount} BETWEEN 0 AND ${most}::numeric`]),
  ];
}

/** Of the slices that are weeks, those that the range touches. */
function weeks({ from, to, upTo }: Scope): Prisma.Sql[] {
  return [
    ...(from === undefined ? [] : [Prisma.sql`slice >= search_week(${from}::uuid)`]),
    ...(to === undefined ? [] : [Prisma.sql`slice <= search_week(${to}::uuid)`]),
    ...(upTo === undefined ? [] : [Prisma.sql`slice <= search_week(${upTo}::uuid)`]),
  ];
}

/** The same as terms, where other slices are looked into. */
function inWeeks(scope: Scope): Prisma.Sql[] {
  if (scope.from === undefined && scope.to === undefined) return [];
  return [
    Prisma.sql`terms && ARRAY(SELECT 'week:' || slice FROM search_slice WHERE ${all([Prisma.sql`kind = 'week'`, ...weeks(scope)])})`,
  ];
}

function withTerms({ terms, anyOf, hints }: Conditions, hinted: boolean): Prisma.Sql[] {
  return [
    ...(terms.length === 0 ? [] : [Prisma.sql`terms @> ARRAY[${Prisma.join(terms)}]`]),
    ...[...anyOf, ...(hinted ? hints : [])].map((list) => Prisma.sql`terms && ${list}`),
  ];
}

function all(conditions: Prisma.Sql[]): Prisma.Sql {
  return conditions.length === 0 ? Prisma.sql`TRUE` : Prisma.join(conditions, ' AND ');
}
