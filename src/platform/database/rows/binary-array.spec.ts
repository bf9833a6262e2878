import fc from 'fast-check';
import { Client } from 'pg';
import { createTestDatabase, TestDatabase } from '../../../../test/support/databases/test-database';
import { runs } from '../../../../test/support/examples/runs';
import { TYPES } from './binary-array';
import { Column, Rows } from './rows';

interface Row {
  id: string | null;
  word: string | null;
  bytes: Buffer | null;
  count: number | null;
  yes: boolean | null;
  at: Date | null;
  amount: string | null;
  day: string | null;
  tries: string | null;
}

const COLUMNS: Column<Row>[] = [
  ['id', 'uuid', ({ id }) => id],
  ['word', 'text', ({ word }) => word],
  ['bytes', 'bytea', ({ bytes }) => bytes],
  ['count', 'integer', ({ count }) => count],
  ['yes', 'boolean', ({ yes }) => yes],
  ['at', 'timestamptz', ({ at }) => at],
  ['amount', 'numeric', ({ amount }) => amount],
  ['day', 'date', ({ day }) => day],
  ['tries', 'json', ({ tries }) => tries],
];

const MAX_INT = 2 ** 31 - 1;

/** Any text that Postgres can store: all but U+0000. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', '\\', "'", '{', '}', ',', ' ', '\n', 'NULL', 'ü', '😀', '$1') }),
  )
  .map((one) => one.replaceAll('\0', ''));

const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { freq: 4 });

const row: fc.Arbitrary<Row> = fc.record({
  id: orNull(fc.uuid()),
  word: orNull(text),
  bytes: orNull(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))),
  count: orNull(fc.integer({ min: -MAX_INT - 1, max: MAX_INT })),
  yes: orNull(fc.boolean()),
  at: orNull(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })),
  amount: orNull(fc.tuple(fc.maxSafeInteger(), fc.nat(999)).map(([whole, part]) => `${whole}.${part}`)),
  day: orNull(
    fc
      .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((day) => day.toISOString().slice(0, 10)),
  ),
  tries: orNull(fc.json().map((one) => one.replaceAll('\\u0000', ''))),
});

describe('Rows', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.ownerUrl });
    await client.connect();
  });

  afterAll(async () => {
    await client.end();
    await database.close();
  });

  const rows = new Rows(COLUMNS, 2);

  /** Returns rows in the words of Postgres. */
  const sent = async (some: Row[]) => {
    const { rows: back } = await client.query<Row>({
      name: 'sent',
      text: `SELECT id::text, word, bytes, count, yes, at, amount::text, day::text, tries::text
        FROM (${rows.source}) AS r, (SELECT $1::text) AS other`,
      values: ['other', ...rows.values(some)],
    });
    return back;
  };

  it('have the same values in Postgres, whatever the content', async () => {
    const property = fc.asyncProperty(fc.array(row, { maxLength: 30 }), async (some) => {
      expect(await sent(some)).toEqual(some.map((one) => ({ ...one, id: one.id?.toLowerCase() ?? null })));
    });
    await fc.assert(property, { numRuns: runs(150) });
  });

  it('may be large', async () => {
    const one = { id: null, count: null, yes: null, at: null, amount: null, day: null, tries: null };
    const large = { ...one, word: '"ü😀\\'.repeat(50_000), bytes: Buffer.alloc(200_000, 7) };
    const small = { ...one, word: '', bytes: Buffer.alloc(0) };
    expect(await sent([small, large, small])).toEqual([small, large, small]);
  });

  it('are not changed by later rows while they wait for a connection', () => {
    const first = TYPES.text.array(['the first']);
    const copy = Buffer.from(first);
    TYPES.text.array(['another one, which is longer']);
    expect(first).toEqual(copy);
  });

  it('replace half of a surrogate pair with the replacement character', () => {
    expect(TYPES.text.array(['\ud83d']).subarray(-3).toString()).toBe('\ufffd');
  });

  it.each([
    '',
    'x',
    '0'.repeat(31),
    '0'.repeat(33),
    '0'.repeat(34),
    `${'0'.repeat(31)}g`,
    '\x10'.repeat(32),
    '０'.repeat(32),
  ])('reject %j as a UUID', (id) => {
    expect(() => TYPES.uuid.array([id])).toThrow('not a UUID');
  });

  it('have a parameter for each column, after other parameters', () => {
    expect([rows.parameter('id'), rows.parameter('amount'), rows.next]).toEqual([
      '$2::uuid[]',
      '$8::text[]::numeric[]',
      11,
    ]);
    expect(() => rows.parameter('other')).toThrow('no column other');
  });
});
