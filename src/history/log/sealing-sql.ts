import { KIND_NAMES, kindOf, KindName } from './kinds';
import { leafSql } from './leaves';

/** By table, up to where its rows are sealed: a transaction and, within it, an id. */
export type Positions = Record<KindName, [tx: string, id: string]>;

export const NIL = '00000000-0000-0000-0000-000000000000';

/** Any number that nothing else in the database locks: of several sealers one seals at a time. */
const SEALER_LOCK = 7_070_004;

export const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(${SEALER_LOCK}) AS locked`;

/**
 * The sealer reads few rows of tables that may be huge, so these plans are right however old the statistics are, and
 * others could be terrible.
 */
export const PLANNING =
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET enable_bitmapscan = off; ' +
  'SET enable_sort = off; SET max_parallel_workers_per_gather = 0; SET jit = off';

const UTC = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The newest checkpoint, and what may be sealed: all below `horizon` has ended; nothing from `next` on has begun. */
export const LOOK = {
  name: 'look',
  text: `
    SELECT ${UTC('statement_timestamp()')} AS now, pg_snapshot_xmin(s)::text AS horizon, pg_snapshot_xmax(s)::text AS next,
      c.size::float8 AS size, c.note, c.positions
    FROM pg_current_snapshot() s
    LEFT JOIN LATERAL (SELECT size, note, positions FROM public.checkpoint ORDER BY size DESC LIMIT 1) c ON true`,
};

/** For each table with rows past its position, how long the first of them waits, in seconds. */
export const NEWS = {
  name: 'news',
  text: KIND_NAMES.map((name, place) => {
    const { key, at } = kindOf(name);
    const where = `(t.tx, t.${key}) > (($1::text[])[${place + 1}]::xid8, ($2::text[])[${place + 1}]::uuid)`;
    return `(SELECT '${name}' AS name, extract(epoch FROM clock_timestamp() - t.${at})::float8 AS waits
      FROM public.${name} t WHERE ${where} AND t.tx < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY t.tx, t.${key} LIMIT 1)`;
  }).join(' UNION ALL '),
};

/** Rows of one table past a position, below the horizon, which have no leaf yet: `tx`, `id`, `hash` (of the leaf). */
export function unsealedSql(name: KindName) {
  const { key } = kindOf(name);
  const where = `(t.tx, t.${key}) > ($1::xid8, $2::uuid) AND t.tx < $3::xid8`;
  return { name: `seal_${name}`, text: selectSql(name, where, '$4') };
}

/**
 * Rows of transactions that this server has not begun yet: they came with a restored backup of another one, or somebody
 * gave them this number to hide them from the sealer.
 */
export function foreignSql(name: KindName) {
  return { name: `foreign_${name}`, text: selectSql(name, 't.tx >= $1::xid8', '$2') };
}

/**
 * Postgres hashes too (leafHash of merkle.ts): a record of hundreds of payouts is some hundred kilobytes, and a batch of them
 * would be more than this process may keep. Who verifies hashes what Postgres says anew. OFFSET 0 lets each leaf be looked up by
 * its key: joined, a table that was small when the plan was made is read whole for each record.
 */
function selectSql(name: KindName, where: string, limit: string): string {
  const { key } = kindOf(name);
  const hash = `sha256('\\x00'::bytea || convert_to(${leafSql(name, 't')}, 'UTF8'))`;
  return `SELECT t.tx::text AS tx, t.${key}::text AS id, ${hash} AS hash FROM public.${name} t
    WHERE ${where} AND NOT EXISTS (SELECT FROM public.log_leaf l WHERE l.record_id = t.${key} AND l.kind = '${name}' OFFSET 0)
    ORDER BY t.tx, t.${key} LIMIT ${limit}`;
}

/** $4: the hashes, one after another. */
export const INSERT_LEAVES = `
  INSERT INTO public.log_leaf (index, kind, record_id, hash)
  SELECT $1::bigint + place - 1, kind, id, substring($4::bytea FROM (place::integer - 1) * 32 + 1 FOR 32)
  FROM unnest($2::text[], $3::uuid[]) WITH ORDINALITY AS r (kind, id, place)`;

export const INSERT_NODES = `
  INSERT INTO public.log_node (level, index, hash)
  SELECT level, index, decode(hash, 'hex') FROM unnest($1::smallint[], $2::bigint[], $3::text[]) AS r (level, index, hash)`;

export const INSERT_CHECKPOINT = `
  INSERT INTO public.checkpoint (size, root, note, positions, sealed_at, complete_until)
  VALUES ($1, $2, $3, $4, $5::timestamptz, $6::timestamptz)`;

export const NOTES_AFTER = 'SELECT note FROM public.checkpoint WHERE size > $1 ORDER BY size LIMIT 1000';
