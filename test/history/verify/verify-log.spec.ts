import { signHead } from '../../../src/history/log/head';
import { leafSql } from '../../../src/history/log/kinds';
import { CompactRange } from '../../../src/history/log/merkle';
import { ringOf, newSigningKey, signerOf } from '../../../src/history/log/note';
import { SPLIT_LEAVES } from '../../support/records/leaves';
import {
  anotherId,
  leafOf,
  makeSealedScene,
  receivedAt,
  SealedScene,
} from '../../support/records/sealed-scene';

let scene: SealedScene;

beforeAll(async () => {
  scene = await makeSealedScene();
});
afterAll(() => scene.close());

/** Leaves between two checkpoints. */
async function sealedWith(leaf: number): Promise<{ leaf: number; to_leaf: number }> {
  const rows = await scene.database.query<{ size: number }>(
    'SELECT size::integer AS size FROM checkpoint ORDER BY size',
  );
  const to = rows.find(({ size }) => size > leaf)?.size ?? 0;
  return { leaf: rows.findLast(({ size }) => size <= leaf)?.size ?? 0, to_leaf: to - 1 };
}

describe('verification', () => {
  it('accepts the recorded and sealed history', async () => {
    const report = await scene.verifyAfter();
    expect(report).toMatchObject({ ok: true, fault: null, unsealed: { count: 0 }, pruned: 0 });
    expect(report.records).toBeGreaterThan(20);
    expect(report.checkpoints).toBeGreaterThan(1);
    expect(report.witnessed).toBe(report.checkpoints);
  });

  describe('of a manipulated call', () => {
    let call: string;
    let place: object;

    beforeAll(() => {
      call = scene.calls[2]!;
      place = { record_id: call, received_at: receivedAt(call) };
    });

    it('names a call deleted in the middle, alone or with its leaf', async () => {
      const leaf = await leafOf(scene, 'intent', call);
      const gone = `DELETE FROM intent WHERE id = '${call}'`;
      expect((await scene.verifyAfter(gone)).fault).toMatchObject({
        code: 'record_missing',
        kind: 'intent',
        leaf,
        ...place,
      });
      const { fault } = await scene.verifyAfter(
        gone,
        ...SPLIT_LEAVES,
        `DELETE FROM log_leaves WHERE first = ${leaf}`,
      );
      expect(fault).toMatchObject({ code: 'leaf_missing', leaf });
    });

    it('names a call swapped with another one', async () => {
      const [one, other] = [call, scene.calls[3]!];
      const third = '01a00000-0000-7000-8000-000000000000';
      const rename = (from: string, to: string) => `UPDATE intent SET id = '${to}' WHERE id = '${from}'`;
      const { fault } = await scene.verifyAfter(rename(one, third), rename(other, one), rename(third, other));
      expect(fault).toMatchObject({
        code: 'record_changed',
        kind: 'intent',
        leaf: await leafOf(scene, 'intent', one),
      });
    });

    it('names a backdated call that is not sealed yet', async () => {
      const id = anotherId(scene.calls[0]!);
      const add = `INSERT INTO intent SELECT (i2).*
        FROM (SELECT jsonb_populate_record(i, jsonb_build_object('id', '${id}')) AS i2 FROM intent i
        WHERE id = '${call}') x`;
      const old = `UPDATE intent SET recorded_at = recorded_at - interval '10 minutes' WHERE id = '${id}'`;
      const { fault } = await scene.verifyAfter(add, old);
      expect(fault).toMatchObject({ code: 'record_in_the_past', kind: 'intent', record_id: id });
      expect(fault?.meaning).toMatch(/without the sealer/);
    });
  });

  it('names the leaves among which two were swapped', async () => {
    const [one, other] = [
      await leafOf(scene, 'intent', scene.calls[0]!),
      await leafOf(scene, 'intent', scene.calls[1]!),
    ];
    const swap = (from: number, to: number) => `UPDATE log_leaves SET first = ${to} WHERE first = ${from}`;
    const { fault } = await scene.verifyAfter(
      ...SPLIT_LEAVES,
      swap(one, 999),
      swap(other, one),
      swap(999, other),
    );
    expect(fault).toMatchObject({ code: 'root_differs', ...(await sealedWith(one)) });
  });

  it('detects removed newest records and seals from the copy of the witness', async () => {
    const [row] = await scene.database.query(
      'SELECT size::integer AS size FROM checkpoint ORDER BY size LIMIT 1',
    );
    const size = row?.size as number;
    const cut = [
      `CREATE TEMP TABLE cut ON COMMIT DROP AS SELECT kind, record_id FROM audit.leaves
        WHERE index >= ${size}`,
      ...['intent', 'refusal', 'access', 'stop', 'answer_shape'].map(
        (table) => `DELETE FROM ${table} WHERE id IN (SELECT record_id FROM cut WHERE kind = '${table}')`,
      ),
      ...['outcome', 'outcome_body'].map(
        (table) =>
          `DELETE FROM ${table} WHERE intent_id IN (SELECT record_id FROM cut WHERE kind = 'outcome')`,
      ),
      `DELETE FROM intent_body WHERE intent_id IN (SELECT record_id FROM cut WHERE kind = 'intent')`,
      `DELETE FROM access_filters WHERE access_id IN (SELECT record_id FROM cut)`,
      `DELETE FROM log_leaves WHERE first >= ${size}`,
      `DELETE FROM checkpoint WHERE size > ${size}`,
    ];
    const { fault } = await scene.verifyAfter(...cut);
    expect(fault).toMatchObject({ code: 'log_cut_off', leaf: size });
    expect(fault?.meaning).toMatch(
      /^The log has \d+ leaves, but note \d+ covers \d+\. The newest records were removed/,
    );
  });

  describe('of a rewritten log', () => {
    const AMOUNT = `UPDATE intent SET record = replace(record, '"amount_usd":"2.5"', '"amount_usd":"99"')
      WHERE id = `;
    /** Rewrites the log with SQL: only the leaves of the current records remain. */
    const rewrite = () => [
      `${AMOUNT}'${scene.calls[1]}'`,
      ...SPLIT_LEAVES,
      `UPDATE log_leaves l SET hashes = sha256('\\x00'::bytea || convert_to(${leafSql('intent', 't')},
        'UTF8')) FROM intent t WHERE t.id = l.ids[1] AND l.kind = 'intent'`,
    ];

    async function rewrittenHead(): Promise<{ size: number; root: Buffer }> {
      const rows = await scene.client.query<{ hash: Buffer }>('SELECT hash FROM audit.leaves ORDER BY index');
      const range = CompactRange.of(0, []);
      rows.rows.forEach(({ hash }) => range.append(hash));
      return { size: range.size, root: range.root() };
    }

    it('detects it with its old checkpoints', async () => {
      const { fault } = await scene.verifyAfter(...rewrite());
      const leaf = await leafOf(scene, 'intent', scene.calls[1]!);
      expect(fault).toMatchObject({ code: 'root_differs', ...(await sealedWith(leaf)) });
    });

    it.each([
      ['an unsigned head', undefined],
      ['a head of another key of the same name', signerOf(newSigningKey('test'))],
    ])('detects it with %s', async (_what, forger) => {
      await scene.client.query('BEGIN; SET LOCAL session_replication_role = replica');
      for (const sql of rewrite()) await scene.client.query(sql);
      const head = await rewrittenHead();
      await scene.client.query('ROLLBACK');
      const at = '2026-11-21T12:00:00.000000Z';
      const signed = { ...head, sealedAt: at, completeUntil: at };
      const note = forger
        ? signHead(signed, ringOf([forger]))
        : `test\n${head.size}\n${head.root.toString('base64')}\n`;
      const insert =
        'INSERT INTO checkpoint (size, root, note, positions, sealed_at, complete_until) VALUES ($1, ' +
        '$2, $3, $4, $5, $5)';
      const values = [head.size, head.root, note, '{}', at];
      const { fault } = await scene.verifyAfter(
        ...rewrite(),
        'DELETE FROM checkpoint',
        'DELETE FROM log_node',
        [insert, values],
      );
      expect(fault?.code).toMatch(/^(not_signed|root_differs)$/);
      expect(fault).toMatchObject({ leaf: 0 });
    });
  });

  it('detects unsigned leaves, and bodies without a record', async () => {
    const id = anotherId(scene.later[0]!);
    const unsigned = `INSERT INTO log_leaves
      SELECT max(index) + 1, 'stop', 'empty', ARRAY['${id}'::uuid], sha256('x') FROM audit.leaves`;
    expect((await scene.verifyAfter(unsigned)).fault).toMatchObject({
      code: 'not_signed',
      kind: 'stop',
      record_id: id,
    });
    for (const [table, more] of Object.entries({ intent_body: ', people', outcome_body: '' })) {
      const body = `INSERT INTO ${table} (intent_id, salt, body${more})
        VALUES ('${id}', 'x', 'y'${more && ", '[]'"})`;
      expect((await scene.verifyAfter(body)).fault).toMatchObject({
        code: 'orphan',
        kind: table,
        record_id: id,
      });
    }
    const people = `INSERT INTO intent_body (intent_id, people) VALUES ('${id}', '[]')`;
    expect((await scene.verifyAfter(people)).fault).toMatchObject({
      code: 'orphan',
      kind: 'intent_body',
      record_id: id,
    });
  });

  it('is not deceived by a view, a rule or a policy instead of a table', async () => {
    const view = ['ALTER TABLE stop RENAME TO stop_old', 'CREATE VIEW stop AS SELECT * FROM stop_old'];
    expect((await scene.verifyAfter(...view)).fault).toMatchObject({ code: 'table_replaced', kind: 'stop' });
    const policy = 'ALTER TABLE intent_default ENABLE ROW LEVEL SECURITY';
    expect((await scene.verifyAfter(policy)).fault).toMatchObject({ code: 'table_replaced', kind: 'intent' });
  });

  it('counts new unsealed records, and names backdated or postdated ones', async () => {
    const stop = (at: string, tx = '') =>
      `INSERT INTO stop (id, reason, stopped_at${tx && ', tx'})
        VALUES (gen_random_uuid(), 'x', clock_timestamp() ${at}${tx})`;
    expect(await scene.verifyAfter(stop(''))).toMatchObject({ ok: true, unsealed: { count: 1 } });
    expect((await scene.verifyAfter(stop(`- interval '1 hour'`))).fault).toMatchObject({
      code: 'record_in_the_past',
      kind: 'stop',
    });
    expect((await scene.verifyAfter(stop(`+ interval '1 hour'`))).fault).toMatchObject({
      code: 'record_in_the_past',
      kind: 'stop',
    });
    const never = ['ALTER TABLE stop ALTER stopped_at DROP NOT NULL', stop('+ NULL')];
    expect((await scene.verifyAfter(...never)).fault).toMatchObject({
      code: 'record_in_the_past',
      kind: 'stop',
    });
  });
});
