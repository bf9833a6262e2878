import { Client } from 'pg';
import { signHead } from '../../../src/history/log/head';
import { ringOf, newSigningKey, signerOf } from '../../../src/history/log/note';
import { Sealing } from '../../../src/history/log/sealing/sealing';
import { Report, verifyLog } from '../../../src/history/log/verify/verify';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { changeLeaf, SET_SPANS, SPLIT_LEAVES } from '../../support/records/leaves';
import { addStops, sealAll, sealerClient } from '../../support/records/sealing';

const signer = signerOf(newSigningKey('test'));
const ring = ringOf([signer]);
let database: TestDatabase;
let client: Client;
let ids: string[];

/** Two rows of ten leaves, each with its checkpoint. */
beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.ownerUrl });
  await client.connect();
  const sealer = await sealerClient(database);
  ids = (await addStops(database, 20)).sort();
  await sealAll(new Sealing(ring, undefined, 10), sealer);
  await sealer.end();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

/** Verifies the log after changes by the owner of the database. */
async function verifyAfter(...changes: string[]): Promise<Report> {
  await client.query('BEGIN; SET LOCAL session_replication_role = replica');
  try {
    for (const change of changes) await client.query(change);
    return await verifyLog([client], { ring, notes: [] });
  } finally {
    await client.query('ROLLBACK');
  }
}

const UNCHECKED =
  'ALTER TABLE log_leaves DROP CONSTRAINT log_leaves_check, DROP CONSTRAINT log_leaves_ids_check';

describe('verification of leaf rows', () => {
  it('accepts the rows of the sealer, with any number of leaves', async () => {
    expect(await verifyAfter()).toMatchObject({
      ok: true,
      records: 20,
      checkpoints: 2,
      unsealed: { count: 0 },
    });
    expect(await verifyAfter(...SPLIT_LEAVES)).toMatchObject({ ok: true, records: 20, checkpoints: 2 });
  });

  it.each([
    ['a row was deleted', 'leaf_missing', { leaf: 0 }, ['DELETE FROM log_leaves WHERE first = 0']],
    ['the last row was deleted', 'leaf_missing', { leaf: 10 }, ['DELETE FROM log_leaves WHERE first = 10']],
    ['there is a gap', 'leaf_missing', { leaf: 10 }, ['UPDATE log_leaves SET first = 11 WHERE first = 10']],
    ['rows overlap', 'leaf_twice', { leaf: 9 }, ['UPDATE log_leaves SET first = 9 WHERE first = 10']],
    ['a hash was changed', 'record_changed', { kind: 'stop', leaf: 13 }, [changeLeaf(13)]],
    [
      'leaves changed places in their row',
      'leaves_changed',
      { leaf: 10, kind: 'stop' },
      [
        `UPDATE log_leaves SET ids = ids[2:2] || ids[1:1] || ids[3:],
           hashes = substring(hashes FROM 33 FOR 32) || substring(hashes FOR 32) || substring(hashes FROM 65)
         WHERE first = 10`,
      ],
    ],
    [
      'a leaf is twice in its row',
      'leaves_changed',
      { leaf: 10, kind: 'stop' },
      [
        `UPDATE log_leaves SET ids = ids[1:1] || ids[1:1] || ids[3:],
           hashes = substring(hashes FOR 32) || substring(hashes FOR 32) || substring(hashes FROM 65)
         WHERE first = 10`,
      ],
    ],
    [
      'no look-up finds a row',
      'leaves_changed',
      { leaf: 0, kind: 'stop' },
      [`UPDATE log_leaves SET span = int8range(0, 1) WHERE first = 0`],
    ],
    [
      'look-ups miss the last leaf of a row',
      'leaves_changed',
      { leaf: 0, kind: 'stop' },
      [
        `UPDATE log_leaves
         SET span = int8range(lower(span), lower(span)) + int8range(lower(span), upper(span) + 1)
         WHERE first = 0`,
      ],
    ],
    [
      'a hash lacks a byte',
      'leaves_changed',
      { leaf: 10 },
      [UNCHECKED, 'UPDATE log_leaves SET hashes = substring(hashes FOR 319) WHERE first = 10'],
    ],
    [
      'a row lacks an ID',
      'leaves_changed',
      { leaf: 10 },
      [UNCHECKED, 'UPDATE log_leaves SET ids = ids[:9] WHERE first = 10', SET_SPANS],
    ],
    [
      'a row has no IDs',
      'leaves_changed',
      { leaf: 0 },
      [UNCHECKED, `UPDATE log_leaves SET ids = '{}' WHERE first = 0`],
    ],
    [
      'leaves name another table',
      'record_missing',
      { leaf: 0, kind: 'stop_lift' },
      [`UPDATE log_leaves SET kind = 'stop_lift' WHERE first = 0`],
    ],
    [
      'leaves name no table',
      'record_missing',
      { leaf: 10, kind: 'x' },
      [`UPDATE log_leaves SET kind = 'x' WHERE first = 10`],
    ],
  ])('reports that %s', async (_what, code, place, changes) => {
    expect((await verifyAfter(...changes)).fault).toMatchObject({ code, ...place });
  });

  it('reports a record with two leaves, and a record without one', async () => {
    const { fault } = await verifyAfter(
      `UPDATE log_leaves l SET ids = o.ids[10:10] || l.ids[2:],
        hashes = substring(o.hashes FROM 289) || substring(l.hashes FROM 33)
       FROM log_leaves o WHERE o.first = 0 AND l.first = 10`,
      SET_SPANS,
    );
    expect(fault).toMatchObject({
      code: 'leaf_twice',
      kind: 'stop',
      record_id: ids[9],
      leaf: expect.any(Number),
    });
  });

  it('reports a checkpoint that reduces the completeness time', async () => {
    const { rows } = await client.query<{ root: Buffer; sealed: string }>(
      `SELECT root, to_char(sealed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS sealed
       FROM checkpoint ORDER BY size`,
    );
    const change = (size: number, completeUntil: string) => {
      const { root, sealed: sealedAt } = rows[size / 10 - 1]!;
      const note = signHead({ size, root, sealedAt, completeUntil }, ring);
      return `UPDATE checkpoint SET note = '${note}', complete_until = '${completeUntil}'
        WHERE size = ${size}`;
    };
    const [earlier, later] = ['2026-01-01T00:00:00.000000Z', '2026-01-02T00:00:00.000000Z'];
    expect(await verifyAfter(change(10, earlier), change(20, later))).toMatchObject({ ok: true });
    expect((await verifyAfter(change(10, later), change(20, earlier))).fault).toMatchObject({
      code: 'checkpoint_changed',
      leaf: 10,
      to_leaf: 19,
    });
  });
});
