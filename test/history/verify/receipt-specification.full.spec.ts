import fc from 'fast-check';
import { KIND_NAMES, kindOf } from '../../../src/history/log/kinds';
import { writeIntent, writeOutcome, writeSettlement } from '../../../src/journal/records/documents';
import { commitment } from '../../../src/platform/privacy/commitment';
import { createTestDatabase } from '../../support/databases/test-database';
import { anyIntent, anyOutcome, anySettlement } from '../../support/records/any-records';
import { specification } from '../../support/records/documented-verifier';

type Members = Record<string, unknown>;

/** Returns the fields of a kind in docs/auditors/receipts.md, with their types. */
function documentedFields(kind: string): Map<string, string> {
  const row =
    specification().match(new RegExp(`^\\| \`${kind.replace('[]', '\\[\\]')}\` .*$`, 'm'))?.[0] ?? '';
  const fields = row.matchAll(
    /`(\w+)` (text|uuid|integer|boolean|decimal|time|date|bytes|json|array|object|list|words)\b/g,
  );
  return new Map([...fields].map(([, name = '', type = '']) => [name, type]));
}

/** Patterns of the values in a leaf by documented type. */
const WRITTEN_AS: Record<string, unknown> = {
  text: expect.any(String),
  uuid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  integer: expect.any(Number),
  boolean: expect.any(Boolean),
  decimal: expect.stringMatching(/^\d+(\.\d+)?$/),
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/),
  date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
  bytes: expect.stringMatching(/^([0-9a-f]{2})+$/),
  array: expect.any(Array),
  object: expect.any(Object),
  list: expect.any(Array),
  words: { asymmetricMatch: (value: unknown) => [value].flat().every((word) => typeof word === 'string') },
};

/** Documented names of the types of the database. */
const DOCUMENTED: Record<string, string> = {
  smallint: 'integer',
  numeric: 'decimal',
  'timestamp with time zone': 'time',
  bytea: 'bytes',
  jsonb: 'json',
};

describe('the receipt specification in docs/auditors/receipts.md', () => {
  it('gives the commitment of its example', () => {
    const [, salt, value, committed] =
      /the salt `(\w+)` and the value `(\S+)` have the commitment `(\w+)`/.exec(specification())!;
    expect(commitment(Buffer.from(salt!, 'hex'), value!).toString('hex')).toBe(committed);
  });

  it('names every field of every record in a receipt, with its type', async () => {
    const database = await createTestDatabase();
    const ofCalls = KIND_NAMES.filter(
      (name) => ['intent', 'refusal'].includes(name) || kindOf(name).key === 'intent_id',
    );
    for (const name of ofCalls.filter((one) => !kindOf(one).isDocument)) {
      const columns = await database.query<{ name: string; type: string }>(
        `SELECT column_name AS name, data_type AS type FROM information_schema.columns
         WHERE table_name = $1 AND column_name <> 'tx'`,
        [name],
      );
      const fields = columns.map((column): [string, string] => [
        column.name,
        DOCUMENTED[column.type] ?? column.type,
      ]);
      expect([name, Object.fromEntries(documentedFields(name))]).toEqual([name, Object.fromEntries(fields)]);
    }
    await database.close();
  });

  it('names every member of the record of a request, an outcome and a settlement, with its type', () => {
    const documents = [
      ...fc.sample(anyIntent, 200).map((intent) => JSON.parse(writeIntent(intent).record) as Members),
      ...fc
        .sample(anyOutcome, 200)
        .map((outcome) => JSON.parse(writeOutcome(outcome, Buffer.alloc(16))) as Members),
      ...fc
        .sample(anySettlement, 200)
        .map((settlement) => JSON.parse(writeSettlement(settlement)) as Members),
    ];
    const seen = new Map<string, Set<string>>();
    const see = (kind: string, { table: _, ...members }: Members) => {
      const names = seen.get(kind) ?? new Set();
      seen.set(kind, names);
      for (const [name, value] of Object.entries(members)) {
        const type = documentedFields(kind).get(name) ?? '';
        if (name !== 'recorded_at')
          expect([kind, name, value]).toEqual([kind, name, WRITTEN_AS[type] ?? type]);
        names.add(name);
        if (type === 'array') for (const one of value as Members[]) see(`${kind}.${name}[]`, one);
        if (type === 'object') see(`${kind}.${name}`, value as Members);
      }
    };
    for (const document of documents) see(document.table as string, document);
    expect([...seen.keys()].sort()).toEqual([
      'intent',
      'intent.items[]',
      'intent.session',
      'intent.token',
      'intent.token.act',
      'outcome',
      'outcome.items[]',
      'outcome.tries[]',
      'settlement',
      'settlement.entries[]',
    ]);
    for (const [kind, names] of seen)
      expect([...names].sort()).toEqual([...documentedFields(kind).keys()].sort());
  });
});
