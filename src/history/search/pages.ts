import { Prisma } from '../../platform/database/generated/client';
import { PayoutPosition } from '../records/records.service';
import { all, inRange, inTime, PAYOUTS, Scope, somePayout, weeks, withTerms } from './matching';
import { Cursor, ResultKind, Sort } from './search.dto';

/** A scope with an order. */
export interface Query extends Scope {
  listed: ResultKind;
  sort: Sort;
  /** `desc` is newest or largest first. */
  direction: 'asc' | 'desc';
  /** Bounds of the amount in US dollars, when sorted by amount. */
  least?: string | undefined;
  most?: string | undefined;
}

interface Columns {
  /** Columns that identify a result, in sort order: `usd`, `id`, `position`. */
  names: readonly Name[];
  /** Values of these columns for an entry, or for a payout of it. */
  columns: Record<Name, Prisma.Sql>;
}

/** Use of the index's columns by a page. */
interface Order extends Columns {
  slices: 'week' | 'item' | 'total';
  /** Slice of a cursor. */
  sliceOf: (cursor: Cursor) => Prisma.Sql;
}

type Name = 'usd' | 'id' | 'position';

/** Weeks of a page to read by hours. The first week may have just begun, or be almost over. */
const WEEKS_BY_HOURS = 2;
const HOURS_OF_A_WEEK = 168;

const SLICE = Prisma.sql`slice`;

const NAMED = { usd: Prisma.sql`usd`, id: Prisma.sql`id`, position: Prisma.sql`position` };

function orderOf({ listed, sort }: Query): Order {
  const usd = listed === 'calls' ? Prisma.sql`coalesce(total_usd, -1)` : Prisma.sql`coalesce(usd, -1)`;
  const columns = { usd, id: Prisma.sql`call_id`, position: Prisma.sql`position` };
  const names: Name[] = listed === 'calls' ? ['id'] : ['id', 'position'];
  if (sort === 'time')
    return { names, columns, slices: 'week', sliceOf: ({ id }) => Prisma.sql`search_week(${id}::uuid)` };
  // The journal computes the steps of payouts, and may round differently.
  const sliceOf = ({ usd = '-1' }: Cursor) => Prisma.sql`search_step(nullif(${usd}::numeric, -1)) + 1`;
  return { names: ['usd', ...names], columns, slices: listed === 'calls' ? 'total' : 'item', sliceOf };
}

/** A row of a page, with the columns of its order. */
export interface PageRow extends PayoutPosition {
  usd: string | null;
}

/**
 * Reads at most `budget` rows in the order of an index, and keeps those that match. If one row of a hundred
 * matches, this fills a page at once. If fewer match, it may find none.
 */
export function walked(query: Query, after: Cursor | undefined, limit: number, budget: number): Prisma.Sql {
  const { conditions, listed, sort } = query;
  const order = orderOf(query);
  const filters = [
    ...withTerms(conditions, false),
    ...conditions.others,
    ...inRange(query),
    ...ofPayouts(query),
  ];
  const ofAmounts = listed === 'items' && sort === 'amount';
  const entries = ofAmounts
    ? amountsInOrder(query, after, budget)
    : entriesInOrder(query, order, after, budget);
  if (ofAmounts) filters.push(Prisma.sql`coalesce(usd, -1) = amount`);
  // Sort by the columns of the source: the planner then stops once the page is full.
  const named = { ...order, columns: { ...NAMED, ...(ofAmounts && { usd: Prisma.sql`amount` }) } };
  return Prisma.sql`
    SELECT ${results(query)} FROM (
      SELECT ${selected(named)} FROM (${entries}) AS entries ${withPayouts(query)}
      WHERE ${all([...filters, ...beyond(query, named, after)])}
      ORDER BY ${sorted(columns(named), query)} LIMIT ${limit}
    ) AS found`;
}

/**
 * Restricts only the start of the index scan. By time, a planner that knows the end might sort the whole
 * range. By amount, a range of IDs is scattered, and could need a scan of the whole index.
 */
function entriesInOrder(query: Query, order: Order, after: Cursor | undefined, budget: number): Prisma.Sql {
  const ofCalls = { ...order, names: order.names.filter((name) => name !== 'position') };
  const begin = query.sort === 'time' ? beginning(query) : inAmounts(query, order);
  return Prisma.sql`
    SELECT *, ${selected(ofCalls)} FROM indexed_call
    WHERE ${all([...begin, ...beyond(query, ofCalls, after, query.listed === 'items')])}
    ORDER BY ${sorted(columns(ofCalls), query)} LIMIT ${budget}`;
}

/** Selects the amounts of payouts in their order, each with its entry. */
function amountsInOrder(query: Query, after: Cursor | undefined, budget: number): Prisma.Sql {
  const stored: Columns = { names: ['usd', 'id'], columns: { ...NAMED, id: Prisma.sql`call_id` } };
  return Prisma.sql`
    SELECT * FROM (
      SELECT usd AS amount, call_id AS id FROM indexed_item
      WHERE ${all([...inAmounts(query, stored), ...beyond(query, stored, after, true)])}
      ORDER BY ${sorted(columns(stored), query)} LIMIT ${budget}
    ) AS amounts CROSS JOIN LATERAL (
      SELECT * FROM indexed_call WHERE call_id = id OFFSET 0 -- one by one, whatever the planner expects
    ) AS entry`;
}

/**
 * Reads slice after slice by the index over terms, until the page is full. A slice costs as much as its
 * matches and its shortest list of a term.
 */
export function sliced(query: Query, after: Cursor | undefined, limit: number): Prisma.Sql {
  const order = orderOf(query);
  const ofSlice = [Prisma.sql`terms @> ARRAY[s.term]`];
  if (order.slices === 'item')
    ofSlice.push(Prisma.sql`strpos(payout || E'\n', E'\n' || s.term || E'\n') > 0`);
  const page = inOrder(query, order, [...ofSlice, ...rowsOf(query, order, after)], limit);
  return Prisma.sql`
    SELECT ${results(query)} FROM (
      SELECT ${Prisma.join(names(order))} FROM (
        ${order.slices === 'week' ? hoursAndWeeks(query, order, after) : stepTerms(query, order, after)}
      ) AS s CROSS JOIN LATERAL (${page}) AS page
      ORDER BY ${sorted([SLICE, ...names(order)], query)} LIMIT ${limit}
    ) AS found`;
}

/** Reads all matches at once. For few matches, slices would read them once per slice. */
export function whole(query: Query, after: Cursor | undefined, limit: number): Prisma.Sql {
  const order = orderOf(query);
  return Prisma.sql`SELECT ${results(query)}
    FROM (${inOrder(query, order, rowsOf(query, order, after), limit)}) AS found`;
}

function inOrder(query: Query, order: Order, conditions: Prisma.Sql[], limit: number): Prisma.Sql {
  return Prisma.sql`
    SELECT * FROM (
      SELECT ${selected(order)} FROM indexed_call ${withPayouts(query)}
      WHERE ${all(conditions)} OFFSET 0 -- by the terms, not in the order of another index
    ) AS matching ORDER BY ${sorted(names(order), query)} LIMIT ${limit}`;
}

/** Returns the conditions of the rows of a page. */
function rowsOf(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql[] {
  const { conditions, sort } = query;
  return [
    ...withTerms(conditions, true),
    ...conditions.others,
    ...inRange(query),
    ...ofPayouts(query),
    ...beyond(query, order, after),
    ...(sort === 'time' ? [] : [...inTime(query), ...inAmounts(query, order)]),
  ];
}

function withPayouts({ listed }: Query): Prisma.Sql {
  return listed === 'calls' ? Prisma.empty : Prisma.sql`CROSS JOIN LATERAL ${PAYOUTS} AS each`;
}

/** Returns the conditions of a payout. A call needs one payout that meets all of them. */
function ofPayouts({ listed, conditions }: Query): Prisma.Sql[] {
  return listed === 'items' ? conditions.ofPayouts : somePayout(conditions);
}

/** Selects the amount steps, each with its term. */
function stepTerms(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql {
  return Prisma.sql`
    SELECT slice, kind || ':' || slice AS term FROM indexed_slice
    WHERE ${all(slicesOf(query, order, after))} ORDER BY ${sorted([SLICE], query)}`;
}

/**
 * Selects weeks, the first ones by hour. A slice is read completely, so a week is too long for many matches,
 * and hours are too many for few. A read of an empty slice takes some microseconds.
 */
function hoursAndWeeks(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql {
  return Prisma.sql`
    SELECT slice * ${HOURS_OF_A_WEEK} + hour AS slice,
      CASE WHEN by_hours THEN 'hour:' || (slice * ${HOURS_OF_A_WEEK} + hour) ELSE 'week:' || slice END AS term
    FROM (
      SELECT slice, row_number() OVER (ORDER BY ${sorted([SLICE], query)}) <= ${WEEKS_BY_HOURS} AS by_hours
      FROM indexed_slice WHERE ${all(slicesOf(query, order, after))}
    ) AS weeks
    CROSS JOIN LATERAL generate_series(0, CASE WHEN by_hours THEN ${HOURS_OF_A_WEEK - 1} ELSE 0 END) AS hour
    ORDER BY ${sorted([SLICE], query)}`;
}

/** Returns the conditions of the possible slices of a page. */
function slicesOf(query: Query, order: Order, after: Cursor | undefined): Prisma.Sql[] {
  const { direction, sort, least, most } = query;
  const than = direction === 'desc' ? Prisma.sql`<=` : Prisma.sql`>=`;
  return [
    Prisma.sql`kind = ${order.slices}::text`,
    ...(after ? [Prisma.sql`slice ${than} ${order.sliceOf(after)}`] : []),
    ...(sort === 'time' ? weeks(query) : []),
    ...(least === undefined ? [] : [Prisma.sql`slice >= search_step(${least}::numeric) - 1`]),
    ...(most === undefined ? [] : [Prisma.sql`slice BETWEEN -9999 AND search_step(${most}::numeric) + 1`]),
  ];
}

const names = (order: Columns) => order.names.map((name) => Prisma.raw(name));
const columns = (order: Columns) => order.names.map((name) => order.columns[name]);
const selected = (order: Columns) =>
  Prisma.join(order.names.map((name) => Prisma.sql`${order.columns[name]} AS ${Prisma.raw(name)}`));

function results({ listed, sort }: Query): Prisma.Sql {
  const usd = sort === 'amount' ? Prisma.sql`usd::text AS usd` : Prisma.sql`NULL AS usd`;
  const position = listed === 'items' ? Prisma.sql`position` : Prisma.sql`NULL::integer AS position`;
  return Prisma.sql`id::text AS id, ${position}, ${usd}`;
}

function sorted(columns: Prisma.Sql[], { direction }: Query): Prisma.Sql {
  return Prisma.join(
    columns.map(
      (column) => Prisma.sql`${column} ${direction === 'desc' ? Prisma.sql`DESC` : Prisma.sql`ASC`}`,
    ),
  );
}

/** @param inclusive whether to read the cursor's row again, because it has more payouts. */
function beyond(query: Query, order: Columns, after: Cursor | undefined, inclusive = false): Prisma.Sql[] {
  if (!after) return [];
  const { id, position = -1, usd = '-1' } = after;
  const values = {
    usd: Prisma.sql`${usd}::numeric`,
    id: Prisma.sql`${id}::uuid`,
    position: Prisma.sql`${position}::integer`,
  };
  const than = Prisma.raw(`${query.direction === 'desc' ? '<' : '>'}${inclusive ? '=' : ''}`);
  const bounds = order.names.map((name) => values[name]);
  return [Prisma.sql`(${Prisma.join(columns(order))}) ${than} (${Prisma.join(bounds)})`];
}

/** Returns the start of the range. */
function beginning({ direction, from, to }: Query): Prisma.Sql[] {
  return inRange(direction === 'desc' ? { to } : { from });
}

/** Rows without an amount have -1. */
function inAmounts({ least, most }: Query, { columns: { usd: amount } }: Columns): Prisma.Sql[] {
  return [
    ...(least === undefined ? [] : [Prisma.sql`${amount} >= ${least}::numeric`]),
    ...(most === undefined ? [] : [Prisma.sql`${amount} BETWEEN 0 AND ${most}::numeric`]),
  ];
}
