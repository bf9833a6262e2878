import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { auditCommands } from '../../../src/cli/audit/audit';
import { leafSql } from '../../../src/history/log/kinds';
import { ringOf, newSigningKey, signerOf, splitNotes } from '../../../src/history/log/note';
import { CheckpointFile } from '../../../src/history/log/sealing/checkpoint-file';
import { Sealing } from '../../../src/history/log/sealing/sealing';
import { isSignedLeaf } from '../../../src/history/log/signed-records';
import { uuidFloor } from '../../../src/platform/database/uuid';
import { everythingIn } from '../../support/databases/everything';
import { callOf, EVIDENCE_TABLES, evidenceOf, refusalOf } from '../../support/databases/old-calls';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { eventually } from '../../support/payments/paying';
import { cliOf } from '../../support/processes/cli';
import { insertSettlements } from '../../support/records/documents';
import { sealAll, sealerClient } from '../../support/records/sealing';

const KEY = newSigningKey('test');
const signer = signerOf(KEY);
const ring = ringOf([signer]);
const CALL_TABLES = ['intent', 'outcome', 'refusal'];
const PEOPLE = ['intent_body', 'outcome_body'];
const [JANUARY, FEBRUARY] = ['2025-01-01', '2025-02-01'].map((day) => uuidFloor(new Date(day)));
const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-prune-'));
const file = join(dir, 'checkpoints');

describe('audit prune', () => {
  const audit = cliOf(auditCommands);
  let database: TestDatabase;
  let sealer: Client;
  let sealing: Sealing;
  const query: TestDatabase['query'] = (sql, parameters) => database.query(sql, parameters);
  const prune = async (...args: string[]) =>
    JSON.parse(
      (await audit('prune', '--older-than', '400d', '--reason', 'age', '--yes', '--json', ...args)).stdout,
    ) as unknown;
  const idsIn = async (table: string) => {
    const id = table === 'intent' || table === 'refusal' ? 'id' : 'intent_id';
    return (await query<{ id: string }>(`SELECT ${id} AS id FROM ${table} ORDER BY 1`)).map((row) => row.id);
  };
  const seal = () => sealAll(sealing, sealer);

  const call = (day: string, outcome?: 'succeeded' | 'unknown' | null) => callOf(database, day, outcome);
  const refusal = (day: string) => refusalOf(database, day);

  beforeEach(async () => {
    database = await createTestDatabase();
    sealer = await sealerClient(database);
    rmSync(file, { force: true });
    sealing = new Sealing(ring, await CheckpointFile.open(file, ring));
    Object.assign(process.env, {
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      LOG_SIGNING_KEY: KEY,
      CHECKPOINT_FILE: file,
    });
    // January has partitions. February has none, so its rows are in the default one.
    for (const table of [...CALL_TABLES, ...PEOPLE]) {
      await query('SELECT make_partition($1, $2, $3)', [
        table,
        `${table}_2025_01`,
        `FOR VALUES FROM ('${JANUARY}') TO ('${FEBRUARY}')`,
      ]);
    }
  });
  afterEach(async () => {
    await sealer.end();
    await database.close();
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('removes whole months with their keys, and keeps open calls, recent months and its record', async () => {
    const gone = [await call('2025-01-05'), await call('2025-01-31T23:59:59Z'), await call('2025-02-01')];
    const inDoubt = await call('2025-01-06', 'unknown');
    const unanswered = await call('2025-02-06', null);
    const young = await call(new Date(Date.now() - 390 * 86_400_000).toISOString());
    const [refused, today] = [await refusal('2025-01-07'), await call(new Date().toISOString())];
    await query('SELECT index_calls(1000)');
    await seal();
    const due = [
      { month: '2025-01', calls: 3, kept: 1 },
      { month: '2025-02', calls: 1, kept: 1 },
    ];
    const before = await everythingIn(database);
    expect(await prune('--dry-run')).toEqual(due);
    expect(await everythingIn(database)).toEqual(before);
    expect(await prune()).toEqual(due);

    const left = [inDoubt, unanswered, young, today].sort();
    for (const table of ['intent', 'intent_item', 'intent_body', 'item_recipient'])
      expect([table, await idsIn(table)]).toEqual([table, left]);
    for (const table of ['outcome', 'outcome_item', 'outcome_body']) {
      expect([table, await idsIn(table)]).toEqual([table, left.filter((id) => id !== unanswered)]);
    }
    expect(await idsIn('refusal')).toEqual([]);
    expect(await idsIn('idempotency_claim')).toEqual(left);
    const indexed = await query('SELECT call_id AS id FROM search_entry ORDER BY 1');
    expect(indexed.map(({ id }) => id)).toEqual(left);
    const tables = "SELECT relname FROM pg_class WHERE relname ~ '2025|pruned' AND relkind = 'r'";
    expect(await query(tables)).toEqual([]);
    const leaves = 'SELECT count(*)::int AS leaves FROM audit.leaves WHERE record_id = ANY ($1)';
    const [sealed] = await query(leaves, [[...gone, refused]]);
    expect(sealed?.leaves).toBe(3 * 2 + 1); // The leaves stay.

    const records = await query<{ leaf: string; checkpoint: string; what: string }>(
      `SELECT t.*, ${leafSql('pruning', 't')} AS leaf FROM pruning t ORDER BY month`,
    );
    expect(records).toMatchObject([
      { month: '2025-01', kept: [inDoubt], rows: '3', reason: 'age', actor: userInfo().username },
      { month: '2025-02', kept: [unanswered], rows: '1' },
    ]);
    expect(records.map(({ what }) => what)).toEqual(['calls', 'calls']);
    for (const { leaf, checkpoint } of records) {
      expect(isSignedLeaf(signer, 'pruning', leaf)).toBe(true);
      expect(splitNotes(readFileSync(file, 'utf8'))).toContain(checkpoint);
    }

    // Remaining records are protected, and new months and rows are possible.
    for (const table of CALL_TABLES) {
      await expect(query(`TRUNCATE ${table}_default`)).rejects.toThrow(/records are only added to/);
    }
    await expect(query('DELETE FROM intent')).rejects.toThrow(/records are only added to/);
    expect(await query(`SELECT DISTINCT tgenabled FROM pg_trigger WHERE tgname = 'refuse_change'`)).toEqual([
      { tgenabled: 'O' },
    ]);
    await query('SELECT make_partitions(5)');
    await call('2025-01-09');

    // A later prune removes it once it is settled.
    await insertSettlements({ query }, [{ intent_id: inDoubt, resolution: 'confirmed' }]);
    await seal();
    expect(await prune()).toEqual([{ month: '2025-01', calls: 2, kept: 0 }]);
    expect(await idsIn('intent')).toEqual([unanswered, young, today].sort());
    expect(await prune()).toEqual([]);
  });

  it('removes bodies and recipients with --people-only, and keeps the calls', async () => {
    const [old, february] = [await call('2025-01-05'), await call('2025-02-05')];
    const inDoubt = await call('2025-01-06', 'unknown');
    await query('SELECT index_calls(1000)');
    await seal();
    const found = "SELECT call_id AS id FROM search_entry WHERE 'to:ada@example.com' = ANY (terms)";
    expect(await query(found)).toHaveLength(3);
    expect(await prune('--people-only')).toEqual([
      { month: '2025-01', calls: 1, kept: 1 },
      { month: '2025-02', calls: 1, kept: 0 },
    ]);
    for (const table of PEOPLE) expect([table, await idsIn(table)]).toEqual([table, [inDoubt]]);
    for (const table of ['intent', 'intent_item', 'outcome'])
      expect(await idsIn(table)).toEqual([old, inDoubt, february].sort());
    expect(await query(found)).toEqual([{ id: inDoubt }]);
    const readable = `SELECT intent_id AS id FROM idempotency_claim
      WHERE salt IS NOT NULL OR content_hash IS NOT NULL OR NOT starts_with(key, 'sha256 ')`;
    expect(await query(readable)).toEqual([{ id: inDoubt }]);
    expect(await query('SELECT what, month, rows FROM pruning ORDER BY month')).toEqual([
      { what: 'people', month: '2025-01', rows: '1' },
      { what: 'people', month: '2025-02', rows: '1' },
    ]);
    await seal();
    expect(await prune('--people-only')).toEqual([]);
    expect(await prune()).toMatchObject([{ month: '2025-01' }, { month: '2025-02' }]);
    expect(await idsIn('intent')).toEqual([inDoubt]);
  });

  it('removes source reads too, and with --people-only only their people', async () => {
    const old = await evidenceOf(database, '2025-01-05');
    await evidenceOf(database, '2025-02-05');
    const young = await evidenceOf(database, new Date().toISOString());
    await call('2025-01-05');
    await seal();
    const due = (calls: number) => [
      { month: '2025-01', calls, kept: 0 },
      { month: '2025-02', calls: 0, kept: 0 },
    ];
    expect(await prune('--people-only')).toEqual(due(1));
    const left =
      'SELECT upstream_ref, phone, reference FROM upstream_transaction WHERE read_id = $1 ORDER BY ordinal';
    expect(await query(left, [old])).toEqual([
      { upstream_ref: 'c', phone: null, reference: 'a' },
      { upstream_ref: 'd', phone: null, reference: null },
      { upstream_ref: 'e', phone: null, reference: 'b' },
    ]);
    expect(await prune('--people-only')).toEqual([]);
    expect(await prune()).toEqual(due(1));
    for (const [table, id] of Object.entries(EVIDENCE_TABLES)) {
      const ids = await query(`SELECT DISTINCT ${id} AS id FROM ${table}`);
      expect([table, ids]).toEqual([table, [{ id: young }]]);
    }
  });

  it('requires sealed records, and a checkpoint of the witness and of the database', async () => {
    const id = await call('2025-01-05');
    await expect(prune()).rejects.toThrow('2025-01: 2 records are not sealed yet. Nothing was pruned');
    await seal();
    const first = readFileSync(file, 'utf8');
    await call('2025-01-06');
    await seal();
    await expect(prune('--checkpoint', join(dir, 'none'))).rejects.toThrow(/cannot be read \(ENOENT\)/);
    const other = join(dir, 'other');
    writeFileSync(other, '');
    await expect(prune('--checkpoint', other)).rejects.toThrow(
      "contains no checkpoint signed by the log's key",
    );
    writeFileSync(other, first);
    await expect(prune('--checkpoint', other)).rejects.toThrow(/does not cover it/);
    writeFileSync(other, first.replace(/^\d+$/m, '99'));
    await expect(prune('--checkpoint', other)).rejects.toThrow(/contains no checkpoint signed/);
    await query(`SET session_replication_role = replica`);
    await query(`UPDATE checkpoint SET root = sha256('') WHERE size > 2`);
    await query(`RESET session_replication_role`);
    await expect(prune()).rejects.toThrow(/is not in the database\. Nothing was pruned\. Run audit verify/);
    expect(await idsIn('intent')).toContain(id);
    expect(await query('SELECT FROM pruning')).toEqual([]);
  });

  it('waits for readers, lets other work continue, and resumes an interrupted pruning', async () => {
    const id = await call('2025-01-05');
    await query('SELECT index_calls(1000)');
    await seal();
    const reader = new Client({ connectionString: database.url });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT FROM intent');
    const pruning = prune();
    const waits = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'intent'::regclass`;
    const isWaiting = async () => (await query(waits)).length > 0;
    await eventually(isWaiting);
    await eventually(async () => !(await isWaiting())); // The lock was released.
    const added = await call(new Date().toISOString());
    await reader.query('COMMIT');
    await reader.end();
    expect(await pruning).toEqual([{ month: '2025-01', calls: 1, kept: 0 }]);
    expect(await idsIn('intent')).toEqual([added]);

    // State after an interruption before the drop of detached tables: the index still has the person.
    await query(`CREATE TABLE pruned_intent_body_2025_01 AS SELECT $1::uuid AS intent_id`, [id]);
    await query(
      `WITH item AS (INSERT INTO search_item VALUES (5, $1)), n AS (INSERT INTO search_name VALUES ($1))
       INSERT INTO search_entry (call_id, client_id, operation, state, repeats, item_usd, payouts, terms)
       VALUES ($1, $1, 'x', 'succeeded', false, '{5}', '{"","\nto:ada@x.example"}', '{to:ada@x.example}')`,
      [id],
    );
    expect(await prune()).toEqual([]);
    expect(await query(`SELECT FROM pg_class WHERE relname ~ 'pruned'`)).toEqual([]);
    for (const table of ['search_entry', 'search_item', 'search_name'])
      expect(await query(`SELECT FROM ${table} WHERE call_id = $1`, [id])).toEqual([]);
  });
});
