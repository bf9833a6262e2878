import { KIND_NAMES, kindOf, KindName } from '../kinds';
import { QueryRunner } from '../tree-store';
import { EVIDENCE_TABLES } from './evidence';
import { LogFault, placeOf } from './fault';
import { RELATED_TABLES } from './record-rows';

const LOG = ['log_leaves', 'log_node', 'checkpoint'];
const SEARCH = ['search_entry', 'search_item', 'search_name', 'search_slice', 'search_position'];

/** Requires real tables. The database owner could replace a table by a view, or hide rows with a policy. */
export async function requireTables(query: QueryRunner): Promise<void> {
  const names = [
    ...KIND_NAMES,
    ...Object.values(RELATED_TABLES).map(({ table }) => table),
    'person',
    ...LOG,
    ...SEARCH,
    ...EVIDENCE_TABLES,
  ];
  const rows = await query<{ name: string; right: boolean }>(
    `SELECT n.name, coalesce(bool_and(c.relkind IN ('r', 'p') AND NOT c.relrowsecurity AND NOT c.relhasrules),
      false) AS right
     FROM unnest($1::text[]) n (name)
     LEFT JOIN LATERAL (
       SELECT to_regclass('public.' || n.name)::oid AS oid
       UNION ALL SELECT relid FROM pg_partition_tree(to_regclass('public.' || n.name))
     ) t ON true
     LEFT JOIN pg_class c ON c.oid = t.oid
     GROUP BY n.name ORDER BY n.name`,
    [names],
  );
  const wrong = rows.find(({ right }) => !right);
  if (wrong) {
    const meaning = `The table ${wrong.name} was replaced by a view, a rule, or a policy, or was dropped.`;
    throw new LogFault('table_replaced', meaning, { kind: wrong.name });
  }
}

/**
 * Finds bodies and people without a record, which no seal covers.
 * @param counts number of related rows of the records of each kind.
 */
export async function requireNoOrphans(
  query: QueryRunner,
  counts: ReadonlyMap<KindName, number>,
): Promise<void> {
  for (const [owner, { table, key }] of Object.entries(RELATED_TABLES) as [
    KindName,
    { table: string; key: string },
  ][]) {
    const [all] = await query<{ count: number }>(`SELECT count(*)::float8 AS count FROM public.${table}`, []);
    if (all?.count === counts.get(owner)) continue;
    const [row] = await query<{ id: string }>(
      `SELECT x.${key}::text AS id FROM public.${table} x
         WHERE NOT EXISTS (SELECT FROM public.${owner} o WHERE o.${kindOf(owner).key} = x.${key})
       ORDER BY x.${key} LIMIT 1`,
      [],
    );
    if (row) {
      const meaning = `A row of ${table} belongs to no record. It was inserted, or its record was deleted.`;
      throw new LogFault('orphan', meaning, placeOf(table, row.id));
    }
  }
}

/** Finds leaves that no checkpoint covers, and leaves of no kind. */
export async function checkLeaves(query: QueryRunner, size: number): Promise<void> {
  const [leaves] = await query<{ index: number; kind: KindName; id: string }>(
    `SELECT first::float8 AS index, kind, ids[1]::text AS id FROM public.log_leaves
     WHERE first >= $1 OR kind <> ALL ($2) ORDER BY first LIMIT 1`,
    [size, KIND_NAMES],
  );
  if (!leaves) return;
  const { index, kind, id } = leaves;
  if (index >= size) {
    const meaning = 'The leaf is after the newest checkpoint, so it is not signed.';
    throw new LogFault('not_signed', meaning, placeOf(kind, id, index));
  }
  const meaning =
    'The leaf names a table that has no records. The record was deleted, or the leaf was changed.';
  throw new LogFault('record_missing', meaning, placeOf(kind, id, index));
}
