import { Prisma } from '../../platform/database/generated/client';
import { Cursor, Listed, Sort } from './cursor';
import { Conditions } from './filters';
import { Place } from '../records/page';

/** The conditions and the range of a search. */
export interface Scope {
  conditions: Conditions;
  /** Call IDs: `from` is inclusive, `to` is exclusive, `upTo` is inclusive. */
  from?: string | undefined;
  to?: string | undefined;
  upTo?: string | undefined;
}

/** A scope with an order. */
export interface Query extends Scope {
  listed: Listed;
  sort: Sort;
  /** `desc` is newest or largest first. */
  direction: 'asc' | 'desc';
  /** Bounds of the amount in US dollars, when sorted by amount. */
  least?: string | undefined;
  most?: string | undefined;
}

/** How a page uses the columns of the index. */
interface Order {
  /** The columns of an index, in its order: amounts, calls, payouts. */
  scanned: Prisma.Sql[];
  /** How many of them identify a result. A call is listed once, whichever of its payouts matches. */
  telling: number;
  slices: 'week' | 'item' | 'total';
  /** The slice of a cursor. */
  sliceOf: (cursor: Cursor) => Prisma.Sql;
}

/** The first weeks of a page are read by hours. The first week may have just begun, or be almost over. */
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

/** A row of a page, with the columns of its order. */
export interface FoundPlace extends Place {
  usd: string | null;
}

/**
 * Reads at most `budget` rows in the order of an index, and keeps those that match. If one row of a hundred matches,
 * this fills a page at once. If fewer match, it may find none.
 */
export function walked(query: Query, after: Cursor | undefined, limit: number, budget: number): Prisma.Sql {
  const { conditions, sort } = query;
  const order = orderOf(query);
  const [amount = CALL] = order.scanned;
  // The index gets only the start. By time, a planner that knows the end too might sort the whole range. By amount, a
  // range of IDs is scattered, and searching for it could scan the whole index.
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
 * Reads one slice after another by the index over terms, until the page is full. A slice costs as much as its matches
 * and its shortest list of a term.
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

/** Reads all matches at once. If there are few, going slice by slice would read them once for each slice. */
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

/** The conditions of the rows that may be on the page. */
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

/** The amount steps, each with its term. */
function stepTerms(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql {
  return Prisma.sql`
    SELECT slice, kind || ':' || slice AS term FROM search_slice
    WHERE ${all(slicesOf(query, order, after))} ORDER BY ${sorted([SLICE], query)}`;
}

/**
 * Weeks, the first ones hour by hour. A slice is read completely, so a week is too long if much matches. If little
 * matches, there are too many hours. Reading an empty slice takes some microseconds.
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

/** The conditions of the slices that a page may be in. */
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

/** The condition of all matches, without an order. */
export function matching(scope: Scope): Prisma.Sql {
  const { conditions } = scope;
  return all([...withTerms(conditions, true), ...inWeeks(scope), ...conditions.others, ...inRange(scope)]);
}

const NAMES = ['usd', 'id', 'position'].map((name) => Prisma.raw(name));

/** The names of the columns that identify a result, in sort order. */
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

/** Rows without an amount have -1. */
function inAmounts({ least, most }: Query, amount: Prisma.Sql): Prisma.Sql[] {
  return [
    ...(least === undefined ? [] : [Prisma.sql`${amount} >= ${least}::numeric`]),
    ...(most === undefined ? [] : [Prisma.sql`${amount} BETWEEN 0 AND ${most}::numeric`]),
  ];
}

/** The condition of the weekly slices within the range. */
function weeks({ from, to, upTo }: Scope): Prisma.Sql[] {
  return [
    ...(from === undefined ? [] : [Prisma.sql`slice >= search_week(${from}::uuid)`]),
    ...(to === undefined ? [] : [Prisma.sql`slice <= search_week(${to}::uuid)`]),
    ...(upTo === undefined ? [] : [Prisma.sql`slice <= search_week(${upTo}::uuid)`]),
  ];
}

/** The same condition as terms, for other slices. */
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
