import { readMigrations } from '../../../platform/database/migrations/migration-files';
import { PROXY_MIGRATIONS } from '../../../platform/database/migrations/migrations';
import { Ask } from '../tree-store';
import { LogFault } from './fault';

/**
 * Functions that create the entries of the search index, update it, and report whether it is complete. The
 * owner of the database could replace one to omit entries.
 */
const FUNCTIONS = [
  'search_value',
  'search_term',
  'search_beginnings',
  'search_week',
  'search_day',
  'search_hour',
  'search_step',
  'country_key',
  'canonical_country',
  'recorded_state',
  'state_at',
  'usual_entry',
  'last_entries',
  'is_committed',
  'reindex_calls',
  'index_calls',
  'build_search_indexes',
  'search_progress',
  'search_is_complete',
];

/** Views that call_entry reads, before it. */
const VIEWS = ['current_settlement', 'call_state', 'call_entry'];

/** Views of the search index for all readers, and their tables. */
const READERS = { indexed_call: 'search_entry', indexed_item: 'search_item', indexed_slice: 'search_slice' };

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
export function entriesSql(): string {
  return `WITH ${VIEWS.map((name) => `${name} AS NOT MATERIALIZED (${queryOf(name)})`).join(', ')}`;
}

/** Requires that the functions and views of the search index equal those of the migrations. */
export async function requireDefinitions(ask: Ask): Promise<void> {
  const functions = await ask<{ name: string; body: string }>(
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
    const [row] = await ask<{ text: string; columns: string }>(
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

function replaced(what: string): LogFault {
  const meaning =
    `The ${what} of the search index is not as the migrations define it. It was replaced, so searches ` +
    'may return wrong ' +
    'results. The records are right; search them in an export until the definition is restored.';
  return new LogFault('search_index_replaced', meaning, { kind: what });
}
