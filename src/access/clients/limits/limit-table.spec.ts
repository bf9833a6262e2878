import { readFileSync } from 'node:fs';
import { createTestDatabase, TestDatabase } from '../../../../test/support/databases/test-database';
import { LimitRow } from './limit-row';
import { LIMIT_KEYS, LIMIT_ROWS, OWN_LIMITS } from './limits';

/** Columns of each kind of limit, in the database and in Prisma's schema. */
const COLUMNS: Record<LimitRow['kind'], object> = {
  usd: { type: 'numeric(20,6)', default: null, mayBeNull: true },
  count: { type: 'integer', default: null, mayBeNull: true },
  list: { type: 'text[]', default: "'{}'::text[]", mayBeNull: false },
  flag: { type: 'boolean', default: 'false', mayBeNull: false },
};
const FIELDS: Record<LimitRow['kind'], string> = {
  usd: 'Decimal?',
  count: 'Int?',
  list: 'String[]',
  flag: 'Boolean',
};

describe('LIMIT_TABLE', () => {
  let database: TestDatabase;

  beforeAll(async () => (database = await createTestDatabase()));
  afterAll(() => database.close());

  const rows = {
    client: LIMIT_KEYS.map((key) => ({ key, ...LIMIT_ROWS[key] })),
    person: OWN_LIMITS.map(([key]) => ({ key, ...LIMIT_ROWS[key] })),
  };

  it.each(['client', 'person'] as const)(
    'has a column of each limit in the table %s, with its type',
    async (table) => {
      const columns = await database.query<{ name: string; column: object }>(
        `SELECT attname AS name, json_build_object('type', format_type(atttypid, atttypmod),
           'mayBeNull', NOT attnotnull, 'default', pg_get_expr(adbin, adrelid)) AS column
         FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         WHERE attrelid = $1::regclass AND attnum > 0`,
        [table],
      );
      const found = new Map(columns.map(({ name, column }) => [name, column]));
      for (const { name, kind } of rows[table])
        expect([name, found.get(name)]).toEqual([name, COLUMNS[kind]]);
    },
  );

  it.each(['client', 'person'] as const)("has a field of each limit in Prisma's model %s", (model) => {
    const schema = readFileSync('prisma/schema.prisma', 'utf8');
    const [, text = ''] = new RegExp(`model ${model} {([^}]*)}`, 'i').exec(schema) ?? [];
    const fields = [...text.matchAll(/^ +(\w+) +(\S+)(?:.*@map\("(\w+)"\))?/gm)];
    const found = new Map(fields.map(([, key = '', type, column = key]) => [key, [column, type]]));
    for (const { key, name, kind } of rows[model])
      expect([key, found.get(key)]).toEqual([key, [name, FIELDS[kind]]]);
  });

  it('has unique names, labels and options', () => {
    for (const property of ['name', 'label', 'option'] as const) {
      const values = rows.client.map((row) => row[property]).filter((value) => value !== undefined);
      expect(values).toEqual([...new Set(values)]);
    }
  });

  it('has an override of the same kind for each limit of persons', () => {
    for (const [own, each] of OWN_LIMITS)
      expect([own, LIMIT_ROWS[own].kind]).toEqual([own, LIMIT_ROWS[each].kind]);
  });
});
