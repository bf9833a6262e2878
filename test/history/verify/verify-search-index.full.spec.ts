import { queryRunner } from '../../../src/history/log/tree-store';
import { Fault, LogFault } from '../../../src/history/log/verify/fault';
import { checkSearchIndex } from '../../../src/history/log/verify/search-index';
import { anotherId, makeSealedScene, SealedScene } from '../../support/records/sealed-scene';

/** Another value of each type that the search index has. */
const OTHER: Record<string, (column: string) => string> = {
  uuid: (column) => `overlay(${column}::text PLACING '0000' FROM 33)::uuid`,
  text: (column) => `${column} || 'x'`,
  boolean: (column) => `NOT ${column}`,
  integer: (column) => `coalesce(${column}, 0) + 1`,
  bigint: (column) => `coalesce(${column}, 0) + 1`,
  numeric: (column) => `coalesce(${column}, 0) + 1`,
  'numeric[]': (column) => `array_append(${column}, 1)`,
  'text[]': () => `'{}'`,
  'timestamp with time zone': (column) => `coalesce(${column}, now()) + interval '1 microsecond'`,
};

let scene: SealedScene;

beforeAll(async () => {
  scene = await makeSealedScene();
  scene.indexDelaySeconds = 0;
});
afterAll(() => scene.close());

/** Compares the search index with the records after changes by the database's owner, and then restores it. */
async function afterChange(...changes: string[]): Promise<Fault | null> {
  const { client, indexDelaySeconds = 60 } = scene;
  await client.query('BEGIN; SET LOCAL session_replication_role = replica');
  try {
    for (const change of ['SELECT index_calls(10000)', ...changes]) await client.query(change);
    expect(await checkSearchIndex(queryRunner(client), indexDelaySeconds)).toBe(true);
    return null;
  } catch (error) {
    if (error instanceof LogFault) return error.fault;
    throw error;
  } finally {
    await client.query('ROLLBACK');
  }
}

describe('verification of the search index', () => {
  it('accepts an index that matches the records', async () => {
    expect(await scene.verifyAfter('SELECT index_calls(10000)')).toMatchObject({
      ok: true,
      search_index: true,
    });
  });

  it('is part of the log verification', async () => {
    const emptied = "UPDATE search_entry SET terms = '{}'";
    const { fault } = await scene.verifyAfter('SELECT index_calls(10000)', emptied);
    expect(fault).toMatchObject({ code: 'search_index_differs', kind: 'search_entry' });
  });

  it('detects a change of any column of an entry, an amount, a name or a slice', async () => {
    const columns = await scene.database.query<{ table: string; name: string; type: string }>(
      `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type
       FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.relname IN ('search_entry', 'search_item', 'search_name', 'search_slice') AND a.attnum > 0
         AND NOT a.attisdropped ORDER BY 1, a.attnum`,
    );
    expect(columns.length).toBeGreaterThan(15);
    const missed: string[] = [];
    for (const { table, name, type } of columns) {
      const other =
        name === 'kind' ? `CASE kind WHEN 'week' THEN 'item' ELSE 'week' END` : OTHER[type]?.(name);
      if (other === undefined) throw new Error(`no other value is known for ${type}`);
      const one = `ctid = (SELECT min(ctid) FROM ${table})`;
      const fault = await afterChange(`UPDATE ${table} SET ${name} = ${other} WHERE ${one}`);
      if (fault?.code !== 'search_index_differs') missed.push(`${table}.${name}`);
    }
    expect(missed).toEqual([]);
  });

  it('detects one lost, exchanged or invented term', async () => {
    const [call] = scene.calls;
    const differs = { code: 'search_index_differs', kind: 'search_entry', record_id: call };
    const change = (terms: string) => `UPDATE search_entry SET terms = ${terms} WHERE call_id = '${call}'`;
    for (const terms of [
      `array_remove(terms, 'to:bob@example.com')`,
      `array_replace(terms, 'to:bob@example.com', 'to:eve@example.com')`,
      `terms || '{to:eve@example.com}'`,
    ]) {
      expect(await afterChange(change(terms))).toMatchObject(differs);
    }
  });

  it('detects a lost or invented call', async () => {
    const [call, id] = [scene.calls[1]!, anotherId(scene.calls[1]!)];
    const differs = { code: 'search_index_differs', record_id: call };
    expect(await afterChange(`DELETE FROM search_entry WHERE call_id = '${call}'`)).toMatchObject(differs);
    expect(await afterChange(`DELETE FROM search_item WHERE call_id = '${call}'`)).toMatchObject(differs);
    const columns = 'client_id, operation, state, repeats, item_usd, payouts, terms';
    const made = `INSERT INTO search_entry (call_id, ${columns}) SELECT '${id}', ${columns} FROM search_entry
      WHERE call_id = '${call}'`;
    expect(await afterChange(made)).toMatchObject({ code: 'search_index_differs', record_id: id });
    const amount = `INSERT INTO search_item VALUES (77, '${call}')`;
    expect(await afterChange(amount)).toMatchObject(differs);
    expect(await afterChange('DELETE FROM search_slice')).toMatchObject({ code: 'search_index_differs' });
  });

  it('accepts a record younger than the index delay', async () => {
    const id = anotherId(scene.calls[1]!);
    const since = `INSERT INTO refusal SELECT (jsonb_populate_record(r,
      jsonb_build_object('id', '${id}', 'recorded_at', clock_timestamp()))).* FROM refusal r LIMIT 1`;
    scene.indexDelaySeconds = undefined;
    expect(await afterChange(since)).toBeNull();
    scene.indexDelaySeconds = 0;
  });

  it.each([
    [
      'a view of the index',
      `CREATE OR REPLACE VIEW indexed_call AS SELECT * FROM search_entry
        WHERE operation <> 'POST /payouts/credit'`,
    ],
    [
      'a function of the entries',
      `CREATE OR REPLACE FUNCTION search_value(value text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
        AS $$ SELECT NULL::text $$`,
    ],
    [
      'the function that tells whether the index is complete',
      `CREATE OR REPLACE FUNCTION search_progress() RETURNS double precision LANGUAGE sql STABLE AS $$
        SELECT 0.5 $$`,
    ],
  ])('detects that %s was replaced', async (_what, change) => {
    expect(await afterChange(change)).toMatchObject({ code: 'search_index_replaced' });
  });

  it('detects a replaced entry view with a rebuilt index', async () => {
    const columns = await scene.database.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'call_entry'::regclass AND attnum > 0
        ORDER BY attnum`,
    );
    const selected = columns.map(({ name }) => (name === 'terms' ? "'{}'::text[] AS terms" : name));
    const fault = await afterChange(
      'ALTER VIEW call_entry RENAME TO true_entry',
      `CREATE VIEW call_entry AS SELECT ${selected.join(', ')} FROM true_entry`,
      'SELECT rebuild_search_index()',
    );
    expect(fault).toMatchObject({ code: 'search_index_differs', kind: 'search_entry' });
  });
});
