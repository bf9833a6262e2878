import { readMigrations } from '../../../platform/database/migrations/migration-files';
import { PROXY_MIGRATIONS } from '../../../platform/database/migrations/migrations';
import { QueryRunner } from '../tree-store';
import { LogFault, placeOf } from './fault';

/** Time from which records in the transaction's snapshot may not be indexed yet. */
const INDEXED_AFTER = 'transaction_timestamp() - make_interval(secs => $1)';

/** Records of a call, and their times. Each record changes the entry. */
const RECORDS = [
  ['intent', 'id', 'recorded_at'],
  ['outcome', 'intent_id', 'recorded_at'],
  ['refusal', 'id', 'recorded_at'],
  ['decision', 'intent_id', 'decided_at'],
  ['settlement', 'intent_id', 'recorded_at'],
] as const;

const IS_YOUNG = RECORDS.map(
  ([table, key, at]) =>
    `EXISTS (SELECT FROM public.${table} t WHERE t.${key} = call.id AND t.${at} >= ${INDEXED_AFTER})`,
).join(' OR ');

/** Planner settings for joins of whole tables. Ordered reads of records use the defaults. */
const JOINING =
  'SET LOCAL enable_nestloop = on; SET LOCAL enable_sort = on; SET LOCAL enable_bitmapscan = on; ' +
  "SET LOCAL work_mem = '64MB'";

/** The kinds of names of a call in its entry, and all hashes in the table of names. */
const NAMES = Object.entries({
  request_id: 'array_remove(ARRAY[c.request_id], NULL)',
  idempotency_key: 'array_remove(ARRAY[c.idempotency_key], NULL)',
  reference: 'c.reference',
  upstream_ref: 'c.upstream_ref',
  upstream_id: 'c.upstream_id',
  beginning: 'c.beginning',
}).map(([column, expected]) => ({
  all: `array_agg(${column}) FILTER (WHERE ${column} IS NOT NULL) AS ${column}`,
  differs: `NOT (coalesce(${expected}, '{}') <@ coalesce(n.${column}, '{}')
    AND coalesce(n.${column}, '{}') <@ coalesce(${expected}, '{}'))`,
}));

/** Finds a call whose entry or names differ from its records, or lacks an entry or records. */
function differingEntry(columns: { name: string; isText: boolean }[]): string {
  const different = columns.map(({ name, isText }) => {
    const collation = isText ? ' COLLATE "C"' : '';
    return `e.${name}${collation} IS DISTINCT FROM c.${name}${collation}`;
  });
  return `${entriesSql()} SELECT call.id::text AS id FROM (
    SELECT coalesce(c.call_id, e.call_id, n.call_id) AS id FROM call_entry c
      FULL JOIN public.indexed_call e ON e.call_id = c.call_id
      FULL JOIN (
        SELECT call_id, ${NAMES.map(({ all }) => all).join(', ')} FROM public.indexed_name GROUP BY call_id
      ) AS n ON n.call_id = coalesce(c.call_id, e.call_id)
    WHERE ${[...different, ...NAMES.map(({ differs }) => differs)].join(' OR ')}
  ) AS call WHERE NOT (${IS_YOUNG}) ORDER BY call.id LIMIT 1`;
}

/** Finds a call whose amounts differ from those of its entry. */
const DIFFERING_ITEM = `
  SELECT coalesce(i.call_id, e.call_id)::text AS id FROM public.indexed_item i FULL JOIN (
    SELECT DISTINCT coalesce(usd, -1) AS usd, call_id FROM public.indexed_call
      CROSS JOIN LATERAL unnest(item_usd) AS usd
  ) AS e ON e.call_id = i.call_id AND e.usd = i.usd
  WHERE i.call_id IS NULL OR e.call_id IS NULL ORDER BY 1 LIMIT 1`;

/** Finds a call in no slice. Slices without calls are harmless: they are empty. */
const MISSING_SLICE = `
  SELECT min(call_id::text) AS id FROM (
    SELECT 'week' AS kind, search_week(call_id) AS slice, call_id FROM public.indexed_call
    UNION ALL SELECT 'total', search_step(total_usd), call_id FROM public.indexed_call
    UNION ALL SELECT 'item', search_step(nullif(usd, -1)), call_id FROM public.indexed_item
  ) AS needed
  WHERE NOT EXISTS (
    SELECT FROM public.indexed_slice s WHERE s.kind = needed.kind AND s.slice = needed.slice)`;

/**
 * Rebuilds the entry of each call from its records, and compares every column with the search index, because
 * an unfindable call is as good as deleted. Skips an index during a rebuild, which cannot be searched.
 * @param delaySeconds age from which a record must be indexed.
 * @returns whether the index is complete.
 */
export async function checkSearchIndex(query: QueryRunner, delaySeconds: number): Promise<boolean> {
  await requireDefinitions(query);
  const [index] = await query<{ progress: number }>('SELECT public.search_progress() AS progress', []);
  if (index?.progress !== 1) return false;
  await query(JOINING, []);
  const columns = await query<{ name: string; isText: boolean }>(
    `SELECT attname AS name, attcollation <> 0 AS "isText" FROM pg_attribute
     WHERE attrelid = 'public.indexed_call'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [],
  );
  const checks = [
    { table: 'search_entry', sql: differingEntry(columns), values: [delaySeconds] },
    { table: 'search_item', sql: DIFFERING_ITEM, values: [] },
    { table: 'search_slice', sql: MISSING_SLICE, values: [] },
  ];
  for (const { table, sql, values } of checks) {
    const [row] = await query<{ id: string | null }>(sql, values);
    const id = row?.id ?? null;
    if (id === null) continue;
    const meaning =
      'The search index does not match the records. It was changed, or audit prune was interrupted, so ' +
      'searches return wrong results. The records are right. Run an interrupted audit prune again. ' +
      'Otherwise, as the owner of the database, SELECT rebuild_search_index() makes the index anew.';
    throw new LogFault('search_index_differs', meaning, placeOf(table, id));
  }
  return true;
}

/** Functions of the search index. The owner of the database could replace one to omit entries. */
const FUNCTIONS = [
  'search_value',
  'search_term',
  'search_beginnings',
  'search_hash',
  'search_week',
  'search_day',
  'search_hour',
  'search_step',
  'country_key',
  'country_code',
  'canonical_country',
  'recorded_state',
  'state_at',
  'usual_entry',
  'last_entries',
  'is_committed',
  'insert_entries',
  'reindex_calls',
  'index_calls',
  'build_search_indexes',
  'name_filters',
  'summarize_names',
  'calls_named',
  'search_progress',
  'search_is_complete',
];

/** Views that call_entry reads, before it. */
const VIEWS = ['current_settlement', 'call_state', 'call_entry'];

/** Views of the search index for all readers, and their tables. */
const READERS = {
  indexed_call: 'search_entry',
  indexed_item: 'search_item',
  indexed_name: 'search_name',
  indexed_slice: 'search_slice',
};

/** Returns the last match of a pattern in the migrations: the definition in effect. */
function definition(pattern: string): string {
  const all = readMigrations(PROXY_MIGRATIONS).map(({ sql }) => sql);
  const found = all.join('\n').matchAll(new RegExp(pattern, 'g'));
  const last = [...found].at(-1)?.[1];
  if (last === undefined) throw new Error(`no migration has ${pattern}`);
  return last;
}

const bodyOf = (name: string) =>
  definition(String.raw`CREATE (?:OR REPLACE )?FUNCTION ${name}\([^$]*\$\$([^]*?)\$\$`);
const queryOf = (name: string) => definition(String.raw`CREATE (?:OR REPLACE )?VIEW ${name} AS\n([^;]*);`);

/** Common table expressions that create the entries from the records, without the views of the database. */
function entriesSql(): string {
  return `WITH ${VIEWS.map((name) => `${name} AS NOT MATERIALIZED (${queryOf(name)})`).join(', ')}`;
}

/** Requires that the functions and views of the search index equal those of the migrations. */
async function requireDefinitions(query: QueryRunner): Promise<void> {
  const functions = await query<{ name: string; body: string }>(
    `SELECT proname AS name, prosrc AS body FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND proname = ANY ($1::text[])`,
    [FUNCTIONS],
  );
  const wrong = FUNCTIONS.find((name) => {
    const [only, ...others] = functions.filter((one) => one.name === name);
    return only?.body !== bodyOf(name) || others.length > 0;
  });
  if (wrong !== undefined) throw replaced(`function ${wrong}`);
  for (const [view, table] of Object.entries(READERS)) {
    const [row] = await query<{ text: string; columns: string }>(
      `SELECT pg_get_viewdef(to_regclass('public.' || $1)) AS text, (
         SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
         WHERE attrelid = to_regclass('public.' || $2) AND attnum > 0 AND NOT attisdropped) AS columns`,
      [view, table],
    );
    const text = (row?.text ?? '').replaceAll(`${table}.`, '').replace(/\s+/g, ' ').trim();
    const condition = '( SELECT search_is_complete() AS search_is_complete)';
    const right = `SELECT ${row?.columns} FROM ${table} WHERE ${condition};`;
    if (text !== right) throw replaced(`view ${view}`);
  }
}

function replaced(definition: string): LogFault {
  const meaning =
    `The ${definition} of the search index differs from the migrations. It was replaced, so searches may ` +
    'return wrong results. The records are right. Search an export until the definition is restored.';
  return new LogFault('search_index_replaced', meaning, { kind: definition });
}
