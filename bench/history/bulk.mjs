/** Indexes that are faster to build after a bulk load than to extend: those not in order of time. */

/** The whole search index. */
const SLOW = `
  SELECT c.relname AS name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS definition,
    i.indrelid::regclass::text AS table_name, r.conname IS NOT NULL AS is_constraint,
      pg_get_constraintdef(r.oid) AS constraint_text,
    a.amname = 'gin' AS is_large
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
  LEFT JOIN pg_constraint r ON r.conindid = i.indexrelid AND r.contype IN ('p', 'u')
  WHERE i.indrelid IN ('search_entry'::regclass, 'search_item'::regclass, 'search_name'::regclass)
  ORDER BY is_large DESC, is_constraint, name -- a constraint waits for all indexes that are being built`;

/** @returns the input of `finishSearchIndex`, which creates the indexes again. */
export async function dropSlowIndexes(client) {
  await client.query('TRUNCATE search_entry, search_item, search_name, search_slice, search_position');
  const { rows } = await client.query(SLOW);
  for (const { name, table_name: table, is_constraint: isConstraint } of rows) {
    await client.query(isConstraint ? `ALTER TABLE ${table} DROP CONSTRAINT ${name}` : `DROP INDEX ${name}`);
  }
  return rows;
}

/** Finishes `seed/entries.sql` like rebuild_search_index. All is indexed, because no one else writes. */
export async function finishSearchIndex(clients, indexes) {
  const left = indexes.map(
    ({ name, definition, table_name: table, is_constraint: isConstraint, constraint_text: text }) =>
      isConstraint ? `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${text}` : definition,
  );
  const work = async (client) => {
    for (let sql = left.shift(); sql; sql = left.shift()) await client.query(sql);
  };
  await Promise.all(clients.map(work));
  await clients[0].query(POSITION);
}

/** As build_search_indexes() leaves it. */
const POSITION = `
  INSERT INTO search_position (done, built, summarized)
  SELECT pg_current_snapshot(), TRUE, pg_relation_size('search_name') / 8192 / 16;
  SELECT brin_desummarize_range(indexrelid, summarized * 16) FROM search_position, name_filters()`;
