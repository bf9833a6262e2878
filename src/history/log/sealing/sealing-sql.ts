import { LOCKS } from '../../../platform/database/locks';
import { KIND_NAMES, kindOf, KindName, leafSql, utcSql } from '../kinds';

/** A position in a table: a transaction and an ID within it. */
export type Position = [tx: string, id: string];

/** Sealed position of each table. */
export type Positions = Record<KindName, Position>;

/** Largest possible number of a transaction. */
export const LAST_TX = '18446744073709551615';

export const NIL = '00000000-0000-0000-0000-000000000000';

export const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(${LOCKS.sealer}) AS locked`;

/** Planner settings for reads of few rows of huge tables. The plans are right even with old statistics. */
export const PLANNING =
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; ' +
  'SET enable_bitmapscan = off; SET enable_sort = off; SET max_parallel_workers_per_gather = 0; ' +
  'SET jit = off';

/** The newest checkpoint, and bounds: transactions below `horizon` have ended, none from `next` has begun. */
export const LOOK = {
  name: 'look',
  text: `
    SELECT ${utcSql('statement_timestamp()')} AS now, pg_snapshot_xmin(s)::text AS horizon,
      pg_snapshot_xmax(s)::text AS next,
      (SELECT system_identifier::text FROM pg_control_system()) AS server,
      c.size::float8 AS size, c.note, c.positions
    FROM pg_current_snapshot() s
    LEFT JOIN LATERAL (
      SELECT size, note, positions FROM public.checkpoint ORDER BY size DESC LIMIT 1
    ) c ON true`,
};

/** Age of the oldest unsealed row of each table, in seconds. */
export const NEWS = {
  name: 'news',
  text: KIND_NAMES.map((name, place) => {
    const { key, at } = kindOf(name);
    const where = `(t.tx, t.${key}) > (($1::text[])[${place + 1}]::xid8, ($2::text[])[${place + 1}]::uuid)`;
    return `(
      SELECT '${name}' AS name, extract(epoch FROM clock_timestamp() - t.${at})::float8 AS waits
      FROM public.${name} t WHERE ${where} AND t.tx < pg_snapshot_xmax(pg_current_snapshot())
      ORDER BY t.tx, t.${key} LIMIT 1)`;
  }).join(' UNION ALL '),
};

/**
 * Selects rows of one table past a position, up to a transaction: `tx`, `id`, and `hash` of the leaf.
 *
 * Postgres hashes the leaves (leafHash of merkle.ts). A record of hundreds of payouts has some hundred
 * kilobytes, and a batch of them would exceed the memory of this process. Verification hashes the text again.
 */
export function recordsSql(name: KindName) {
  const { key } = kindOf(name);
  const text = `
    SELECT t.tx::text AS tx, t.${key}::text AS id,
      sha256('\\x00'::bytea || convert_to(${leafSql(name, 't')}, 'UTF8')) AS hash
    FROM public.${name} t WHERE (t.tx, t.${key}) > ($1::xid8, $2::uuid) AND t.tx <= $3::xid8
    ORDER BY t.tx, t.${key} LIMIT $4`;
  return { name: `seal_${name}`, text };
}

/** Rows of leaves, as arrays: kinds, and the milliseconds and IDs of their first and last records. */
const SPANS = 'unnest($1::text[], $2::bigint[], $3::bigint[], $4::uuid[], $5::uuid[])';

/** Finds records that already have a leaf. The tree contains each record once. */
export const SEALED = {
  name: 'sealed',
  text: `
    SELECT r.kind, n.id::text AS id FROM ${SPANS} r (kind, low, high, first, last)
    JOIN public.log_leaves l ON l.span && int8range(r.low, r.high, '[]') AND l.kind = r.kind
    CROSS JOIN LATERAL unnest(l.ids) n (id) WHERE n.id BETWEEN r.first AND r.last`,
};

/** $5 has lists of IDs, and $6 the hashes of each list, concatenated. */
export const INSERT_LEAVES = {
  name: 'leaves',
  text: `
    INSERT INTO public.log_leaves (first, kind, span, ids, hashes)
    SELECT first, kind, int8range(low, high, '[]'), ids::uuid[], hashes
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[])
      r (first, kind, low, high, ids, hashes)`,
};

export const INSERT_NODES = `
  INSERT INTO public.log_node (level, index, hash)
  SELECT level, index, decode(hash, 'hex')
  FROM unnest($1::smallint[], $2::bigint[], $3::text[]) AS r (level, index, hash)`;

export const INSERT_CHECKPOINT = `
  INSERT INTO public.checkpoint (size, root, note, positions, sealed_at, complete_until)
  VALUES ($1, $2, $3, $4, $5::timestamptz, $6::timestamptz)`;

export const NOTES_AFTER = 'SELECT note FROM public.checkpoint WHERE size > $1 ORDER BY size LIMIT 1000';
