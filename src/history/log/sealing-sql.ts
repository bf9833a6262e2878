import { KIND_NAMES, kindOf, KindName } from './kinds';
import { leafSql } from './leaves';

/** How far each table is sealed: a transaction and, within it, an ID. */
export type Positions = Record<KindName, [tx: string, id: string]>;

export const NIL = '00000000-0000-0000-0000-000000000000';

/** A number that nothing else in the database locks. Only one sealer works at a time. */
const SEALER_LOCK = 7_070_004;

export const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(${SEALER_LOCK}) AS locked`;

/**
 * The sealer reads few rows of tables that may be huge. These plans are right even with old statistics. Others could be
 * terrible.
 */
export const PLANNING =
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET enable_bitmapscan = off; ' +
  'SET enable_sort = off; SET max_parallel_workers_per_gather = 0; SET jit = off';

const UTC = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * The newest checkpoint, and the range to seal. All transactions below `horizon` have ended. None from `next` on has
 * begun.
 */
export const LOOK = {
  name: 'look',
  text: `
    SELECT ${UTC('statement_timestamp()')} AS now, pg_snapshot_xmin(s)::text AS horizon, pg_snapshot_xmax(s)::text AS next,
      c.size::float8 AS size, c.note, c.positions
    FROM pg_current_snapshot() s
    LEFT JOIN LATERAL (SELECT size, note, positions FROM public.checkpoint ORDER BY size DESC LIMIT 1) c ON true`,
};

/** The age of the oldest unsealed row of each table, in seconds. */
export const NEWS = {
  name: 'news',
  text: KIND_NAMES.map((name, place) => {
    const { key, at } = kindOf(name);
    const where = `(t.tx, t.${key}) > (($1::text[])[${place + 1}]::xid8, ($2::text[])[${place + 1}]::uuid)`;
    return `(SELECT '${name}' AS name, extract(epoch FROM clock_timestamp() - t.${at})::float8 AS waits
      FROM public.${name} t WHERE ${where} AND t.tx < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY t.tx, t.${key} LIMIT 1)`;
  }).join(' UNION ALL '),
};

/** Selects unsealed rows of one table past a position and below the horizon: `tx`, `id`, and `hash` of the leaf. */
export function unsealedSql(name: KindName) {
  const { key } = kindOf(name);
  const where = `(t.tx, t.${key}) > ($1::xid8, $2::uuid) AND t.tx < $3::xid8`;
  return { name: `seal_${name}`, text: selectSql(name, where, '$4') };
}

/**
 * Selects rows of transactions that this server has not begun yet. They came with a restored backup of another server,
 * or somebody gave them this number to hide them from the sealer.
 */
export function foreignSql(name: KindName) {
  return { name: `foreign_${name}`, text: selectSql(name, 't.tx >= $1::xid8', '$2') };
}

/**
 * Postgres hashes the leaves (leafHash of merkle.ts). A record of hundreds of payouts has some hundred kilobytes, and a
 * batch of them would exceed the memory of this process. Verification hashes the text again. OFFSET 0 makes Postgres
 * look up each leaf by its key. A join would read a table that was small at planning time completely for each record.
 */
function selectSql(name: KindName, where: string, limit: string): string {
  const { key } = kindOf(name);
  const hash = `sha256('\\x00'::bytea || convert_to(${leafSql(name, 't')}, 'UTF8'))`;
  return `SELECT t.tx::text AS tx, t.${key}::text AS id, ${hash} AS hash FROM public.${name} t
    WHERE ${where} AND NOT EXISTS (SELECT FROM public.log_leaf l WHERE l.record_id = t.${key} AND l.kind = '${name}' OFFSET 0)
    ORDER BY t.tx, t.${key} LIMIT ${limit}`;
}

/** $4 has the hashes, concatenated. */
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
