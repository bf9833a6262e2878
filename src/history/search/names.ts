import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { uuidFloor, uuidTime } from '../../platform/database/uuid';
import { Range } from './filters';
import { Scope } from './matching';
import { PageRow, Query, whole } from './pages';
import { Cursor } from './search.dto';

/** Calls with a name that a page reads at once. Each reads a page range, some tenths of a millisecond. */
const FEW_NAMED = 300;
/** More calls with a name are found as fast without it. */
const MOST_NAMED = 10_000;

/** Days after which the periods of a page end. */
const WINDOW_DAYS = [1, 16, 128];
const DAY_MS = 86_400_000;

/**
 * Returns the periods of a page, in its order. All names of a period are read, so a name that many calls have
 * fills the page in the first one.
 */
export function windowsOf({ from, to, sort, direction }: Query, after: Cursor | undefined): Range[] {
  const isDown = direction === 'desc';
  const cursor = after && (isDown ? uuidFloor(new Date(uuidTime(after.id).getTime() + 1)) : after.id);
  const [begin, end] = isDown ? [cursor ?? to, from] : [cursor ?? from, to];
  const start = begin ?? (isDown ? uuidFloor(new Date(clock.nowMs())) : undefined);
  const days = sort === 'time' && start !== undefined ? WINDOW_DAYS : [];
  const bounds = days.map((day) => later(start ?? '', isDown ? -day : day));
  const inside = bounds.filter((bound) => end === undefined || (isDown ? bound > end : bound < end));
  const edges = [begin, ...inside, end];
  return edges.slice(1).map((edge, index) => {
    const before = edges[index];
    return isDown ? { from: edge, to: before } : { from: before, to: edge };
  });
}

/** Returns the lowest ID of some days after that of another one. */
function later(id: string, days: number): string {
  return uuidFloor(new Date(uuidTime(id).getTime() + days * DAY_MS));
}

/**
 * Limits a scope to the calls that have the rarest of its names, in a period. Returns the same scope if it
 * has no names, or more calls than `most` have it.
 */
async function namedIn<S extends Scope>(
  reader: ReaderPrisma,
  scope: S,
  { from, to, most }: Partial<Range> & { most: number },
  signal?: AbortSignal,
): Promise<S> {
  const { conditions } = scope;
  const [rarest] = conditions.names;
  if (!rarest) return scope;
  const { kind, names } = rarest;
  const [row] = await reader.readLong<{ calls: string[] }>(
    Prisma.sql`SELECT calls_named(${kind}::text, ${names}::text[], ${most}::integer,
      ${from ?? null}::uuid, ${to ?? null}::uuid) AS calls`,
    signal,
  );
  const calls = row?.calls ?? [];
  if (calls.length > most) return scope;
  const named = Prisma.sql`call_id = ANY (${calls}::uuid[])`;
  return { ...scope, conditions: { ...conditions, others: [named, ...conditions.others] } };
}

/** Limits a scope to the calls that have the rarest of its names, unless it has none or too many have it. */
export function withNamed<S extends Scope>(reader: ReaderPrisma, scope: S, signal?: AbortSignal): Promise<S> {
  return namedIn(reader, scope, { most: MOST_NAMED }, signal);
}

/** Returns a page of calls with a name. Undefined if the query has no names, or too many calls have them. */
export async function pageOfNamed(
  reader: ReaderPrisma,
  query: Query,
  after: Cursor | undefined,
  { limit, gone }: { limit: number; gone?: AbortSignal | undefined },
): Promise<PageRow[] | undefined> {
  if (query.conditions.names.length === 0) return undefined;
  const ask = (named: Query, rows: number) => reader.readLong<PageRow>(whole(named, after, rows), gone);
  const few = await namedIn(reader, query, { most: FEW_NAMED }, gone);
  if (few !== query) return ask(few, limit);
  const found: PageRow[] = [];
  for (const period of windowsOf(query, after)) {
    const named = await namedIn(reader, query, { ...period, most: MOST_NAMED }, gone);
    if (named === query) return undefined;
    found.push(...(await ask(named, limit - found.length)));
    if (found.length === limit) return found;
  }
  return found;
}
