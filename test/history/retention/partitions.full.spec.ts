import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { TestDatabase } from '../../support/databases/test-database';
import { PaymentScene, startPaying } from '../../support/payments/paying';
import { insertIntent } from '../../support/records/documents';

interface Model {
  dbName: string;
  fields: { name: string; kind: string; type: string; dbName?: string }[];
}

/** Postgres types of each scalar type of Prisma. */
const COLUMN_TYPES: Record<string, string[]> = {
  String: ['uuid', 'text', 'ARRAY'],
  Int: ['integer', 'smallint'],
  BigInt: ['bigint'],
  Boolean: ['boolean'],
  Bytes: ['bytea', 'ARRAY'],
  DateTime: ['timestamp with time zone', 'date'],
  Decimal: ['numeric', 'ARRAY'],
  Json: ['json', 'jsonb'],
};

/** Partitions of rows, and the schema of Prisma. */
describe('partitioned tables', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying()));
  afterAll(() => paying.close());

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const partitions = async () =>
    (await query("SELECT relname FROM pg_class WHERE relkind = 'r' AND relispartition ORDER BY 1")).map(
      ({ relname }) => relname as string,
    );
  const namesOf = async (sql: string) => (await query<{ name: string }>(sql)).map(({ name }) => name).sort();
  const callOf = (response: { headers: Record<string, string> }) => response.headers['x-call-id'];

  it('store the rows of a call in the partitions of its month', async () => {
    const id = callOf(await paying.pay().expect(200));
    const [month] = await query<{ suffix: string }>(
      "SELECT to_char(now() AT TIME ZONE 'UTC', '_YYYY_MM') AS suffix",
    );
    const tables = ['outcome', 'intent_body', 'outcome_body'];
    for (const table of tables) {
      const rows = await query(
        `SELECT tableoid::regclass::text AS partition FROM ${table} WHERE intent_id = $1`,
        [id],
      );
      expect(rows).toEqual([{ partition: `${table}${month?.suffix}` }]);
    }
  });

  it('store and find a call of a month without partitions', async () => {
    for (const msecs of [Date.UTC(2001, 0, 1), Date.UTC(2099, 11, 31)]) {
      const id = uuidv7({ msecs });
      const proxyRole = new Client({ connectionString: paying.proxy.database.url });
      await proxyRole.connect();
      await insertIntent(proxyRole, { id, recorded_at: new Date(msecs).toISOString() });
      await proxyRole.end();
      expect(
        await query('SELECT tableoid::regclass::text AS partition FROM intent WHERE id = $1', [id]),
      ).toEqual([{ partition: 'intent_default' }]);
      expect(await paying.record({ headers: { 'x-call-id': id } })).toMatchObject({
        id,
        operation: 'POST /send',
      });
      const day = new Date(msecs).toISOString();
      const { body } = await paying.proxy.get(
        paying.auditor,
        `/v1/audit/calls?from=${day}&operation=POST /send`,
      );
      expect(body.calls?.map((call) => call.id)).toContain(id);
    }
  });

  it('have bounds without gaps and overlaps between months', async () => {
    const months = await query<{ start: Date }>("SELECT date_trunc('month', now(), 'UTC') AS start");
    const start = months[0]!.start.getTime();
    const next = new Date(start);
    next.setUTCMonth(next.getUTCMonth() + 1);
    const last = `${uuidv7({ msecs: next.getTime() - 1 }).slice(0, 13)}-7fff-bfff-ffffffffffff`;
    const first = `${uuidv7({ msecs: next.getTime() }).slice(0, 13)}-0000-0000-000000000000`;
    const rows: string[] = [];
    for (const id of [last, first]) {
      const [row] = await query<{ partition: string }>(
        `INSERT INTO intent_body (intent_id, salt, body) VALUES ($1, '', '')
          RETURNING tableoid::regclass::text AS partition`,
        [id],
      );
      rows.push(row?.partition ?? '');
    }
    const name = (at: Date) => `intent_body_${at.toISOString().slice(0, 7).replace('-', '_')}`;
    expect(rows).toEqual([name(new Date(start)), name(next)]);
  });

  it('get the next months once, despite concurrent requests', async () => {
    const before = await partitions();
    const clients = Array.from(
      { length: 5 },
      () => new Client({ connectionString: paying.proxy.database.url }),
    );
    await Promise.all(clients.map((client) => client.connect()));
    await Promise.all(clients.map((client) => client.query('SELECT make_partitions(1)')));
    expect(await partitions()).toEqual(before);
    await Promise.all(clients.map((client) => client.query('SELECT make_partitions(3)')));
    const after = await partitions();
    expect(after).toHaveLength(before.length + 2 * 8);
    expect(after).toEqual(expect.arrayContaining(before));
    await Promise.all(clients.map((client) => client.end()));
    const unguarded = await query(
      `SELECT c.relname FROM pg_class c WHERE c.relispartition AND c.relkind = 'r'
         AND c.relname ~ '^(intent|outcome|refusal)_(default|\\d{4}_\\d{2})$'
         AND (SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgenabled = 'O') < 2`,
    );
    expect(unguarded).toEqual([]);
  });

  it('skip a month blocked by a long query or rows in the default partition', async () => {
    const reader = new Client({ connectionString: paying.proxy.database.ownerUrl });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT FROM outcome_default');
    await query('SELECT make_partitions(4)');
    await reader.query('COMMIT');
    await reader.end();
    const months = async (table: string) =>
      (await partitions()).filter((name) => new RegExp(`^${table}_\\d{4}_\\d{2}$`).test(name)).length;
    expect([await months('intent'), await months('outcome')]).toEqual([5, 4]);
    await query('SELECT make_partitions(4)');
    expect(await months('outcome')).toBe(5);
  });

  it('have the guards and partitions that their lists name', async () => {
    const guardedBy = (trigger: string) =>
      `SELECT relname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
        WHERE tgname = '${trigger}'`;
    const listed = await namesOf('SELECT unnest(append_only_tables()) AS name');
    expect(await namesOf(`${guardedBy('refuse_change')} AND NOT relispartition`)).toEqual(listed);
    expect(await namesOf(`${guardedBy('refuse_truncate')} AND NOT relispartition`)).toEqual(listed);
    expect(await namesOf(`${guardedBy('refuse_truncate')} AND relispartition`)).toEqual(
      await namesOf(`SELECT relname AS name FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
        WHERE inhparent::regclass::text = ANY (append_only_tables()) AND relkind = 'r'`),
    );
    const sealed =
      await namesOf(`SELECT DISTINCT relname AS name FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
      WHERE attname = 'tx' AND NOT relispartition AND relkind IN ('r', 'p')`);
    expect(sealed.filter((name) => !listed.includes(name))).toEqual([]);
    expect(await namesOf("SELECT relname AS name FROM pg_class WHERE relkind = 'p'")).toEqual(
      await namesOf('SELECT unnest(monthly_tables()) AS name'),
    );
  });

  it('match the Prisma models, column by column', async () => {
    const prisma = paying.proxy.app.get(PrismaService, { strict: false });
    const { models } = (prisma as unknown as { _runtimeDataModel: { models: Record<string, Model> } })
      ._runtimeDataModel;
    const columns = await query<Record<'table_name' | 'column_name' | 'data_type', string>>(
      // Prisma lacks xid8 (the type of `tx`), snapshots and ranges. Views are no tables.
      `SELECT table_name, column_name, data_type FROM information_schema.columns
        JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
         AND data_type NOT IN ('xid8', 'pg_snapshot', 'int8range')`,
    );
    for (const { dbName: table, fields } of Object.values(models)) {
      const types = new Map(
        columns
          .filter(({ table_name }) => table_name === table)
          .map(({ column_name, data_type }) => [column_name, data_type]),
      );
      const scalars = fields.filter(({ kind }) => kind === 'scalar');
      expect([table, scalars.map(({ name, dbName }) => dbName ?? name).sort()]).toEqual([
        table,
        [...types.keys()].sort(),
      ]);
      for (const { name, dbName = name, type } of scalars) {
        expect([table, dbName, COLUMN_TYPES[type]]).toEqual([
          table,
          dbName,
          expect.arrayContaining([types.get(dbName)]),
        ]);
      }
    }
    const tables = new Set(columns.map(({ table_name }) => table_name));
    const known = new Set([
      ...Object.values(models).map(({ dbName }) => dbName),
      '_prisma_migrations',
      'space_reserve', // Reserved space only.
      'search_name', // Without a key, which a model of Prisma needs.
      ...(await partitions()),
    ]);
    expect([...tables].filter((table) => !known.has(table))).toEqual([]);
  });
});
