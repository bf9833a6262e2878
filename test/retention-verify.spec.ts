import { erase, findPlaces, Wish } from '../src/retention/erase';
import { prune, PruneWish } from '../src/retention/prune';
import { CheckpointFile } from '../src/transparency/checkpoint-file';
import { signRecord } from '../src/transparency/signed-records';
import { Sealing } from '../src/transparency/sealing';
import { v7 as uuidv7 } from 'uuid';
import { makeSealedScene, SealedScene } from './support/sealed-scene';
import { sealAll, sealerClient } from './support/sealing';

/** What the commands take out, the verification of the log takes for what it is: as they do it, not as a test would. */
describe('after erasing and pruning, the log', () => {
  let scene: SealedScene;
  let wish: Wish;
  let held: string;
  const query = (sql: string, parameters?: unknown[]) => scene.database.query(sql, parameters);

  beforeAll(async () => {
    scene = await makeSealedScene();
    wish = { reason: 'a test', actor: null, signer: scene.signer };
    await scene.withProxy(async (proxy) => {
      const { id, key } = await proxy.client('waiting', 'pay');
      await query('UPDATE client SET approval_over_usd = 0 WHERE id = $1', [id]);
      const credits = [{ email: 'ada1@example.com', valueInUSD: 3 }];
      const { body } = await proxy.post(key, '/payouts/credit', { credits }).set('Idempotency-Key', 'k').expect(202);
      held = body.call_id;
    });
  });
  afterAll(() => scene.close());

  async function verified() {
    const sealer = await sealerClient(scene.database);
    await sealAll(new Sealing(scene.signer, await CheckpointFile.open(scene.checkpointFile, scene.signer)), sealer);
    await sealer.end();
    return scene.verifyAfter();
  }
  const pruneAll = async (what: PruneWish['what']) => {
    const before = new Date(Date.now() + 40 * 86_400_000); // this month is over by then
    const wishes = { ...wish, what, before, checkpointFile: scene.checkpointFile };
    const months = await prune(scene.client, wishes, false, () => undefined); // two, where one has just begun
    return months.reduce((sum, { kept }) => sum + kept, 0);
  };

  it('still proves all of it without a person, and misses them where nobody has signed for it', async () => {
    const person = { kind: 'email', value: 'ada1@example.com' } as const;
    const bodies = await findPlaces(scene.client, person, () => undefined);
    const erased = await erase(scene.client, person, bodies, wish);
    expect(erased.open).toEqual([held]);
    expect(erased.places.filter((place) => place.startsWith('item_recipient'))).toEqual([
      ...[scene.calls[1], scene.later[1]].map((call) => `item_recipient/${call}/0`),
    ]);
    expect(erased.places.some((place) => place.startsWith('access_filters'))).toBe(true);
    expect(await verified()).toMatchObject({ ok: true, erasures: 1 });
    const unsigned = await scene.verifyAfter(`UPDATE erasure SET places = places[2:]`);
    expect(unsigned.ok).toBe(false);
  });

  it('still proves all of it without a month’s bodies and people', async () => {
    expect(await pruneAll('people')).toBe(1);
    expect((await query('SELECT intent_id FROM intent_body')).map(({ intent_id: id }) => id)).toEqual([held]);
    expect(await verified()).toMatchObject({ ok: true, prunings: expect.any(Number) });
  });

  it('still proves all that was sealed without a month’s calls, and those that stayed', async () => {
    expect(await pruneAll('calls')).toBe(1);
    expect((await query('SELECT id FROM intent')).map(({ id }) => id)).toEqual([held]);
    expect(await verified()).toMatchObject({ ok: true });
    const lost = await scene.verifyAfter(`DELETE FROM intent`);
    expect(lost.fault).toMatchObject({ record_id: held });
  });

  it.each([-600_000, 600_000])('is right also where the clock of who erased is %i ms from its own', async (apart) => {
    const row = { id: uuidv7(), kind: 'email' as const, reason: 'x', actor: null, places: [] };
    const erasure = { ...row, erased_at: new Date(Date.now() + apart) };
    await query(
      'INSERT INTO erasure (id, kind, reason, places, erased_at, signature) VALUES ($1, $2, $3, $4, $5, $6)',
      [row.id, row.kind, row.reason, [], erasure.erased_at, signRecord(scene.signer, 'erasure', erasure)],
    );
    expect(await scene.verifyAfter()).toMatchObject({ ok: true });
    expect(await verified()).toMatchObject({ ok: true });
  });

  it('lets go later what had stayed, once it is over', async () => {
    await query(
      `INSERT INTO decision (intent_id, verdict, reason, client_id, key_id, process) VALUES ($1, 'rejected', 'x', $1, $1, 1)`,
      [held],
    );
    expect(await verified()).toMatchObject({ ok: true });
    expect(await pruneAll('calls')).toBe(0);
    expect(await query('SELECT FROM intent')).toEqual([]);
    expect(await verified()).toMatchObject({ ok: true });
    const undecided = await scene.verifyAfter('DELETE FROM decision'); // which no prune takes away
    expect(undecided.fault).toMatchObject({ code: 'record_missing', kind: 'decision', record_id: held });
  });
});
