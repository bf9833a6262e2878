import { randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { ACTOR_SOURCES } from '../../../src/access/people/person';
import { KIND_NAMES, kindOf, KindName, leafSql } from '../../../src/history/log/kinds';
import { newSigningKey, signerOf } from '../../../src/history/log/note';
import { isSignedLeaf, signRecord } from '../../../src/history/log/signed-records';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { runs } from '../../support/examples/runs';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** Any text that Postgres can store: quotes, line ends, controls, half the planes of Unicode. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0')),
  fc.constantFrom(
    '',
    '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028\u2029\ufeff\u{1f4b8}',
    '\ud7ff\ue000\uffff',
    'é ≠ é',
  ),
);
const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(text, tie('value'), { maxKeys: 3 }),
})).object;
const asBytes = (value: Uint8Array) => `\\x${Buffer.from(value).toString('hex')}`;
const bytes = fc.uint8Array({ maxLength: 40 }).map(asBytes);
const time = fc.bigInt(0n, 4_000_000_000_000_000n).map((microseconds) => {
  const digits = String(microseconds % 1_000_000n).padStart(6, '0');
  return `${new Date(Number(microseconds / 1_000_000n) * 1_000).toISOString().slice(0, 19)}.${digits}Z`;
});
/** Values by the types of columns. */
const VALUES: Record<string, fc.Arbitrary<unknown>> = {
  text,
  json,
  jsonb: json,
  bytea: bytes,
  'timestamp with time zone': time,
  uuid: fc.uuid(),
  boolean: fc.boolean(),
  integer: fc.integer({ min: -32_768, max: 32_767 }),
  smallint: fc.integer({ min: -32_768, max: 32_767 }),
  bigint: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String),
  numeric: fc
    .tuple(fc.nat(99_999_999), fc.nat(999))
    .map(([whole, part]) => `${whole}.${String(part).padStart(3, '0')}`),
  date: fc.constantFrom('2026-11-21', '1999-12-31', '2024-02-29'),
  ARRAY: fc.array(fc.uuid(), { maxLength: 4 }),
};
/** Values of columns with constraints. */
const WORDS: Record<string, fc.Arbitrary<unknown>> = {
  'refusal.actor_source': fc.constantFrom(...ACTOR_SOURCES),
  'refusal.actor_commitment': fc.uint8Array({ minLength: 32, maxLength: 32 }).map(asBytes),
  'decision.screening': fc.constantFrom('allow', 'review'),
  'decision.kind': fc.constantFrom('approved', 'rejected', 'released'),
  'settlement.resolution': fc.constantFrom('confirmed', 'not_executed'),
  'stop.stops_operation': fc.constant(null),
  'erasure.kind': fc.constantFrom('email', 'phone', 'handle', 'person'),
  'pruning.what': fc.constantFrom('people', 'calls'),
  'pruning.month': fc.constantFrom('2026-01', '2025-12'),
  'source_read.source': fc.constantFrom('transactions', 'batch', 'transaction', 'wallets', 'statement'),
  'verdict.verdict': fc.constantFrom('confirmed', 'not_executed', 'ambiguous'),
  'upstream_event.event_id': fc.uuid(),
  'reconciliation_run.due_at': fc.noBias(time),
  'reconciliation_run.from_at': fc.constant('2026-11-20T00:00:00.000000Z'),
  'reconciliation_run.to_at': fc.constantFrom('2026-11-20T00:00:00.000001Z', '2026-11-21T00:00:00.000000Z'),
  'reconciliation_run_end.result': fc.constantFrom(
    'clean',
    'clean_with_doubts',
    'incomplete',
    'findings',
    'failed',
  ),
  'stop.via': fc.constantFrom('api', 'console'),
  'stop_lift.via': fc.constantFrom('api', 'console'),
  'stop.cause': fc.constant('database_behind'),
  'finding.subject': fc.uuid(),
  'finding.category': fc.constantFrom(
    'missing_upstream',
    'missing_local',
    'late',
    'balance_gap',
    'unexplained_debit',
  ),
  'finding_step.state': fc.constantFrom('explained', 'resolved', 'accepted', 'reopened'),
  'activity.action': fc.constantFrom('client_created', 'limits_changed', 'key_revoked'),
  'activity.via': fc.constantFrom('api', 'console', 'cli', 'start'),
  'answer_shape.fingerprint': fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((value) => `\\x${hexOf(value)}`),
};

const hexOf = (value: Uint8Array) => Buffer.from(value).toString('hex');

interface Column {
  name: string;
  type: string;
  nullable: boolean;
}

async function columnsOf(table: string): Promise<Column[]> {
  return database.query(
    `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable
     FROM information_schema.columns WHERE table_name = $1 AND column_name <> 'tx'`,
    [table],
  );
}

/** Rows of a table as JSON. Nullable columns are sometimes null. */
function rowsOf(table: string, columns: Column[]) {
  const valueOf = ({ name, type, nullable }: Column) => {
    const values = WORDS[`${table}.${name}`] ?? VALUES[type]!;
    return nullable ? fc.option(values, { freq: 6 }) : values;
  };
  return fc.record(Object.fromEntries(columns.map((column) => [column.name, valueOf(column)])));
}

async function insert(table: string, rows: object[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {}).join(', ');
  await database.query(
    `INSERT INTO ${table} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${table}, $1)`,
    [JSON.stringify(rows)],
  );
}

async function leafOf(name: KindName, id: unknown): Promise<string> {
  const sql = `SELECT ${leafSql(name, 't')} AS leaf FROM ${name} t WHERE t.${kindOf(name).key} = $1`;
  const [row] = await database.query<{ leaf: string }>(sql, [id]);
  return row?.leaf ?? '';
}

describe.each(KIND_NAMES)('the leaf of a row of %s', (name) => {
  const { key, columns, isDocument } = kindOf(name);

  it('has every column except tx', async () => {
    const expected = (await columnsOf(name)).map((column) => column.name);
    expect([...Object.keys(columns), ...(isDocument ? ['record'] : [])].sort()).toEqual(expected.sort());
  });

  if (isDocument) return; // See test/history/verify/documents.full.spec.ts.

  it('is canonical JSON for any column values', async () => {
    const stored = await columnsOf(name);
    await fc.assert(
      fc.asyncProperty(rowsOf(name, stored), async (drawn) => {
        const row: Record<string, unknown> = { ...drawn, [key]: randomUUID() };
        await insert(name, [row]);
        const leaf = await leafOf(name, row[key]);
        expect(canonicalize(JSON.parse(leaf))).toBe(leaf);
        const parsed = JSON.parse(leaf) as Record<string, unknown>;
        expect(parsed.table).toBe(name);
        for (const { name: column, type } of stored)
          expect(said(type, parsed[column] ?? null)).toEqual(row[column]);
      }),
      { numRuns: runs(8) },
    );
  });
});

it('keeps the leaf of a stop sealed before stops had a cause', async () => {
  const stop = { id: randomUUID(), stopped_at: '2026-11-20T00:00:00.000000Z', reason: 'its key has leaked' };
  await insert('stop', [stop]);
  const columns = ['stops_client_id', 'stops_operation', 'client_id', 'key_id', 'actor'];
  const unset = Object.fromEntries(columns.map((column) => [column, null]));
  expect(await leafOf('stop', stop.id)).toBe(canonicalize({ ...unset, ...stop, table: 'stop' }));
});

/** Returns the inserted value of a leaf. */
function said(type: string, value: unknown): unknown {
  if (value === null) return null;
  if (type === 'json' || type === 'jsonb') return JSON.parse(value as string);
  if (type === 'numeric') return (value as string).replace(/(\.\d{3})0*$/, '$1');
  return type === 'bytea' ? `\\x${value as string}` : value;
}

describe('the signature of an erasure or a pruning', () => {
  const signer = signerOf(newSigningKey('log'));
  const at = new Date('2026-11-21T10:20:30.456Z');
  const id = '01a1fc4c-d86a-751d-baa6-e9463876b80c';
  const SIGNED = {
    erasure: {
      id,
      kind: 'email',
      reason: 'asked "for"',
      actor: null,
      places: [`intent_body/${id}`],
      erased_at: at,
    },
    pruning: {
      id,
      what: 'calls',
      month: '2025-01',
      reason: 'its age',
      actor: 'x',
      kept: [id],
      rows: 12n,
      leaves: 20,
      checkpoint: 'a\n1\nb\n\n— a b\n',
      pruned_at: at,
    },
  } as const;

  it.each(['erasure', 'pruning'] as const)(
    'is valid for the leaf of a row of %s, and for no other',
    async (kind) => {
      const row = SIGNED[kind] as never;
      const signature = `\\x${signRecord(signer, kind, row).toString('hex')}`;
      const rows = kind === 'pruning' ? { rows: '12' } : {};
      await insert(kind, [{ ...(row as object), ...rows, signature }]);
      const leaf = await leafOf(kind, id);
      expect(isSignedLeaf(signer, kind, leaf)).toBe(true);
      expect(isSignedLeaf(signer, kind, leaf.replace('751d', '751e'))).toBe(false);
      expect(isSignedLeaf(signerOf(newSigningKey('log')), kind, leaf)).toBe(false);
    },
  );
});
