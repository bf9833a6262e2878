import { Prisma } from '../../platform/database/generated/client';
import { COUNTED } from './entries';
import { CallState, OPEN, Present } from './lifecycle';

/** The tables of the records that determine the state of an intent, with their aliases. */
const STATE_TABLES = ['outcome o', 'decision d', 'current_settlement s'];

/** An intent (`i`) with the records that determine its state: `o`, `d` and `s`. */
export const CALLS = Prisma.raw(
  'intent i ' +
    `${STATE_TABLES.map((table) => `LEFT JOIN ${table} ON ${aliasOf(table)}.intent_id = i.id`).join(' ')}`,
);

/**
 * Intents (`i`) with these IDs, and their records in other tables, by default those of `CALLS`. Joins each
 * table by the IDs, so Postgres looks them up and skips the partitions of other months. Otherwise it would
 * read whole tables for calls of several months.
 */
export function callsWith(ids: string[], tables: string[] = STATE_TABLES): Prisma.Sql {
  const wanted = Prisma.sql`ANY (${ids}::uuid[])`;
  const joins = tables.map((table) => {
    const id = Prisma.raw(`${aliasOf(table)}.intent_id`);
    return Prisma.sql`LEFT JOIN ${Prisma.raw(table)} ON ${id} = i.id AND ${id} = ${wanted}`;
  });
  return Prisma.sql`(SELECT * FROM intent WHERE id = ${wanted}) AS i ${Prisma.join(joins, ' ')}`;
}

/** The condition that an intent was queued (isQueued of lifecycle.ts). @param of its alias. */
export const IS_QUEUED = (of: string) => `(${of}.held_for IS NULL AND ${of}.expires_at IS NOT NULL)`;

/** The recorded state of `CALLS`. */
export const RECORDED_STATE = Prisma.sql`recorded_state(o.kind,
  EXISTS (SELECT FROM refusal r WHERE r.id = i.id), s.resolution,
  i.held_for IS NOT NULL, ${Prisma.raw(IS_QUEUED('i'))}, d.kind)`;

/** The recorded state of `CALLS`, with the columns for the state at an instant. */
export const STATE_COLUMNS = Prisma.sql`${RECORDED_STATE} AS state, i.expires_at,
  coalesce(d.process, i.process) AS process,
  coalesce(d.decided_at, i.recorded_at) AS released_at`;

/**
 * The condition that all payouts of a call (`CALLS`) failed, came back or were not executed. The amount that
 * counts on caps is almost never zero, so almost no record is parsed.
 */
export const IS_RETURNED = Prisma.sql`(coalesce(s.counted_usd, o.counted_usd) IS NOT DISTINCT FROM 0
  AND i.item_count > 0 AND i.item_count = (
    SELECT count(*) FROM last_entries(i.id, o.record::json -> 'entries', i.item_count, NULL)
    WHERE entry <> ALL (${COUNTED}::text[])))`;

/** Returns the state at an instant, for rows of `search_entry`, `call_state` or `STATE_COLUMNS`. */
export function stateAtSql({ now, live, givenUpBefore }: Present): Prisma.Sql {
  return Prisma.sql`state_at(state, expires_at, process, released_at,
    ${now}::timestamptz, ${live}::int[], ${givenUpBefore}::timestamptz)`;
}

/**
 * Returns the state now. To avoid calls that look abandoned by mistake, read `live` before the records: a
 * process may record an outcome and end in between.
 */
export function stateNowSql(givenUpAfterMs: number, live?: number[]): Prisma.Sql {
  const processes = live ? Prisma.sql`${live}::int[]` : Prisma.sql`ARRAY(SELECT live_processes())`;
  return Prisma.sql`state_at(state, expires_at, process, released_at, clock_timestamp(), ${processes},
    clock_timestamp() - make_interval(secs => ${givenUpAfterMs / 1_000}::float))`;
}

/** The condition of calls in progress, in a form for the index search_entry_in_progress. */
export function inProgress({ givenUpBefore }: Present): Prisma.Sql {
  return Prisma.sql`state = 'in_progress' AND released_at >= ${givenUpBefore}::timestamptz`;
}

/**
 * The condition of calls that can still be approved, in a form for the index search_entry_expires_at. Every
 * held call expires.
 */
export function notExpired({ now }: Present): Prisma.Sql {
  return Prisma.sql`expires_at > ${now}::timestamptz`;
}

/** The condition of held intents (`i`) that have not expired, in a form for the index intent_held. */
export const HELD = Prisma.sql`i.held_for IS NOT NULL AND i.expires_at > clock_timestamp()`;

/** The search index terms of calls with one of these recorded states. */
export function stateTerms(states: readonly string[]): Prisma.Sql {
  return Prisma.sql`${states.map((state) => `state:${state}`)}::text[]`;
}

/**
 * A condition for calls in one of these states now. `states` must include both calls in progress and calls in
 * doubt, or neither. The condition does not distinguish them, so it needs no process and no age.
 */
export function stateIn(states: readonly CallState[]): Prisma.Sql {
  const list = states.map((state) => `'${state}'`).join(', ');
  return Prisma.raw(
    `state_at(state, expires_at, process, released_at, clock_timestamp(), '{}', '-infinity') IN (${list})`,
  );
}

/** Whether a payout of an answered call (`CALLS`) is in doubt. Few records have the word, and are parsed. */
const HAS_DOUBT = `(
    o.record LIKE '%"in_doubt"%'
    OR EXISTS (SELECT FROM settlement t WHERE t.intent_id = i.id AND t.record LIKE '%"in_doubt"%')
  ) AND EXISTS (
    SELECT FROM last_entries(i.id, o.record::json -> 'entries', i.item_count, NULL)
    WHERE entry = 'in_doubt')`;

/**
 * A statement for open calls, with a condition on `i`, an intent. A call with a payout in doubt is open,
 * because its recipient is needed to recognize its transaction.
 */
export const openCalls = (which: string) => `
  SELECT id FROM (
    SELECT i.id, ${STATE_COLUMNS.sql}, ${HAS_DOUBT} AS doubtful FROM ${CALLS.sql} WHERE ${which}) AS call
  WHERE ${stateIn(OPEN).sql} OR doubtful ORDER BY id`;

function aliasOf(table: string): string {
  return table.slice(table.indexOf(' ') + 1);
}
