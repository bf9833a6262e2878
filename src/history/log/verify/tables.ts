import { Head } from '../head';
import { KIND_NAMES, kindOf, KindName } from '../kinds';
import { Ask } from '../tree-store';
import { apartOf, LogFault, placeOf } from './fault';
import { Seen } from './seen';

/** Tables beside the records, and the records that their rows must belong to. */
const BESIDE: { table: string; id: string; owner: KindName }[] = [
  { table: 'intent_body', id: 'intent_id', owner: 'intent' },
  { table: 'outcome_body', id: 'intent_id', owner: 'outcome' },
  { table: 'access_filters', id: 'access_id', owner: 'access' },
];

const LOG = ['log_leaf', 'log_node', 'checkpoint'];

/** Requires real tables. The database owner could replace a table by a view, or hide rows with a policy. */
export async function requireTables(ask: Ask): Promise<void> {
  const names = [...KIND_NAMES, ...BESIDE.map(({ table }) => table), ...LOG];
  const rows = await ask<{ name: string; right: boolean }>(
    `SELECT n.name, coalesce(bool_and(c.relkind IN ('r', 'p') AND NOT c.relrowsecurity AND NOT c.relhasrules), false) AS right
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

/** The unsealed records: their number, and the age of the oldest. */
export interface Unsealed {
  count: number;
  oldest: string | null;
}

/** Checks records without a leaf. They are new, or somebody hid them from the sealer. */
export async function checkUnsealed(ask: Ask, seen: Seen, head: Head | undefined): Promise<Unsealed> {
  let count = 0;
  let oldest: string | null = null;
  for (const name of KIND_NAMES) {
    const { key, at } = kindOf(name);
    const inTable = await countOf(ask, name);
    if (inTable === (seen.records[name] ?? 0)) continue;
    const unsealed = `FROM public.${name} t WHERE NOT EXISTS (
      SELECT FROM public.log_leaf l WHERE l.record_id = t.${key} AND l.kind = '${name}')`;
    const apart = `interval '${apartOf(name)} seconds'`;
    const hidden = `(t.${at} IS NULL OR t.${at} < $1::timestamptz - ${apart} OR t.${at} > clock_timestamp() + ${apart})`;
    const [row] = await ask<{ id: string }>(
      `SELECT t.${key}::text AS id ${unsealed} AND ${hidden} ORDER BY t.${at} LIMIT 1`,
      [head?.completeUntil ?? null],
    );
    if (row) {
      const meaning =
        'The record is not sealed, but all other records of its time are. Somebody inserted it without the sealer.';
      throw new LogFault('record_in_the_past', meaning, placeOf(name, row.id));
    }
    const [all] = await ask<{ count: number; oldest: Date | null }>(
      `SELECT count(*)::float8 AS count, min(t.${at}) AS oldest ${unsealed}`,
      [],
    );
    count += all?.count ?? 0;
    const since = all?.oldest?.toISOString();
    if (since !== undefined && (oldest === null || since < oldest)) oldest = since;
  }
  return { count, oldest };
}

/** Finds bodies and people without a record. No seal covers them. */
export async function checkBeside(ask: Ask, seen: Seen): Promise<void> {
  for (const { table, id, owner } of BESIDE) {
    if ((await countOf(ask, table)) === (seen.beside[owner] ?? 0)) continue;
    const [row] = await ask<{ id: string }>(
      `SELECT x.${id}::text AS id FROM public.${table} x
       WHERE NOT EXISTS (SELECT FROM public.${owner} o WHERE o.${kindOf(owner).key} = x.${id}) ORDER BY x.${id} LIMIT 1`,
      [],
    );
    if (row) {
      const meaning = `A row of ${table} belongs to no record. Somebody inserted it, or deleted its record.`;
      throw new LogFault('orphan', meaning, placeOf(table, row.id));
    }
  }
}

export async function checkLogTables(ask: Ask, seen: Seen, size: number): Promise<void> {
  const [leaf] = await ask<{ index: number; kind: KindName; id: string }>(
    `SELECT index::float8 AS index, kind, record_id::text AS id FROM public.log_leaf WHERE index >= $1 ORDER BY index LIMIT 1`,
    [size],
  );
  if (leaf) {
    const meaning = 'The leaf is after the newest checkpoint, so it is not signed.';
    throw new LogFault('not_signed', meaning, placeOf(leaf.kind, leaf.id, leaf.index));
  }
  if ((await countOf(ask, 'log_node')) !== seen.nodes) {
    throw new LogFault('node_differs', 'The log contains nodes of subtrees that do not exist.', { kind: 'log_node' });
  }
  if ((await countOf(ask, 'checkpoint')) !== seen.checkpoints) {
    throw new LogFault('checkpoint_changed', 'A checkpoint has a size that the log does not have.', {
      kind: 'checkpoint',
    });
  }
}

async function countOf(ask: Ask, table: string): Promise<number> {
  const [row] = await ask<{ count: number }>(`SELECT count(*)::float8 AS count FROM public.${table}`, []);
  return row?.count ?? 0;
}
