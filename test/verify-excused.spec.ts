import { newSigningKey, signerOf } from '../src/transparency/note';
import { signRecord } from '../src/transparency/signed-records';
import { anotherId, makeSealedScene, receivedAt, SealedScene } from './support/sealed-scene';

let scene: SealedScene;

beforeAll(async () => {
  scene = await makeSealedScene();
});
afterAll(() => scene.close());

describe('verifying after an erasure or a pruning', () => {
  const at = new Date();

  function erasure(places: string[], by = scene.signer) {
    const row = {
      id: anotherId(scene.later[3]!),
      kind: 'email' as const,
      reason: 'asked',
      actor: null,
      places,
      erased_at: at,
    };
    const values = [row.id, row.kind, row.reason, row.actor, row.places, row.erased_at, signRecord(by, 'erasure', row)];
    return [
      'INSERT INTO erasure (id, kind, reason, actor, places, erased_at, signature) VALUES ($1, $2, $3, $4, $5, $6, $7)',
      values,
    ] as [string, unknown[]];
  }

  async function pruning(what: 'people' | 'calls', kept: string[], by = scene.signer) {
    const [row] = await scene.database.query('SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1');
    const checkpoint = row?.note as string;
    const month = receivedAt(scene.calls[0]!).slice(0, 7);
    const id = anotherId(scene.later[3]!);
    const pruned = { id, what, month, reason: 'its age', actor: null, kept, rows: 3, checkpoint, pruned_at: at };
    const values = [id, what, month, pruned.reason, null, kept, 3, checkpoint, at, signRecord(by, 'pruning', pruned)];
    return [
      `INSERT INTO pruning (id, what, month, reason, actor, kept, rows, checkpoint, pruned_at, signature) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      values,
    ] as [string, unknown[]];
  }

  const erase = (call: string) => [
    `DELETE FROM item_recipient WHERE intent_id = '${call}' AND position = 0`,
    `DELETE FROM intent_body WHERE intent_id = '${call}'`,
  ];
  const placesOf = (call: string) => [`intent_body/${call}`, `item_recipient/${call}/0`];

  it('finds nothing wrong with what the key has signed that it was erased, and with no more', async () => {
    const [one, other] = [scene.calls[0]!, scene.calls[1]!];
    const record = erasure(placesOf(one));
    expect(await scene.verifyAfter(record, ...erase(one))).toMatchObject({ ok: true, erasures: 1 });
    expect((await scene.verifyAfter(record, ...erase(one), ...erase(other))).fault).toMatchObject({
      code: 'people_missing',
      record_id: other,
    });
    const forged = erasure(placesOf(one), signerOf(newSigningKey('test')));
    expect((await scene.verifyAfter(forged, ...erase(one))).fault).toMatchObject({
      code: 'not_signed',
      kind: 'erasure',
    });
  });

  it('finds nothing wrong with a month whose people were pruned, or all of it, but for what was kept', async () => {
    const kept = scene.later[0]!;
    const people = ['intent_body', 'outcome_body', 'item_recipient'].map(
      (table) => `DELETE FROM ${table} WHERE intent_id <> '${kept}'`,
    );
    const calls = [
      ...people,
      ...['intent_item', 'outcome', 'outcome_item'].map((table) => `DELETE FROM ${table} WHERE intent_id <> '${kept}'`),
      `DELETE FROM intent WHERE id <> '${kept}'`,
      'DELETE FROM refusal',
    ];
    expect(await scene.verifyAfter(await pruning('people', [kept]), ...people)).toMatchObject({
      ok: true,
      prunings: 1,
      pruned: 0,
    });
    const report = await scene.verifyAfter(await pruning('calls', [kept]), ...calls);
    expect(report).toMatchObject({ ok: true, prunings: 1 });
    expect(report.pruned).toBeGreaterThan(10);
    const { fault } = await scene.verifyAfter(await pruning('calls', [kept]), ...calls, `DELETE FROM outcome`);
    expect(fault).toMatchObject({ code: 'record_missing', kind: 'outcome', record_id: kept });
    expect((await scene.verifyAfter(await pruning('people', []), ...calls)).fault).toMatchObject({
      code: 'record_missing',
    });
    const forged = await pruning('calls', [kept], signerOf(newSigningKey('test')));
    expect((await scene.verifyAfter(forged, ...calls)).fault).toMatchObject({ code: 'not_signed', kind: 'pruning' });
  });
});
