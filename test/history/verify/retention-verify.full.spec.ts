import { v7 as uuidv7 } from 'uuid';
import { CheckpointFile } from '../../../src/history/log/sealing/checkpoint-file';
import { Sealing } from '../../../src/history/log/sealing/sealing';
import { signRecord } from '../../../src/history/log/signed-records';
import { erase, findPlaces } from '../../../src/history/retention/erase';
import { RemovalRequest } from '../../../src/history/retention/erasures';
import { prune, PruneRequest } from '../../../src/history/retention/prune';
import { TestDatabase } from '../../support/databases/test-database';
import { makeSealedScene, SealedScene } from '../../support/records/sealed-scene';
import { sealAll, sealerClient } from '../../support/records/sealing';

/** Tables of reconciliation. */
const ONE_OF_EACH = `WITH
  r AS (INSERT INTO source_read (id, source, mapping)
    VALUES (uuid_floor(clock_timestamp()), 'statement', '{"a":1}') RETURNING id),
  e AS (INSERT INTO source_read_end (read_id, complete, bytes, sha256, rows, kept, faults)
    SELECT id, true, 1, '\\x01', 1, 1, 0 FROM r),
  t AS (INSERT INTO upstream_transaction (read_id, ordinal, email) SELECT id, 2, 'ada1@example.com' FROM r),
  v AS (INSERT INTO verdict (id, intent_id, verdict, reason, evidence)
    SELECT id, id, 'ambiguous', 'x', '{}' FROM r),
  u AS (INSERT INTO upstream_event (id, event_id, signed_at, amount_usd) SELECT id, 'e', now(), 1.50 FROM r),
  n AS (INSERT INTO reconciliation_run (id, from_at, to_at, as_of, historical, settings)
    SELECT id, now(), now() + interval '1 day', now(), false, '{}' FROM r),
  d AS (INSERT INTO reconciliation_run_end (run_id, result, totals)
    SELECT id, 'clean', '{"usd":"1.50"}' FROM r),
  f AS (INSERT INTO finding (id, category, subject, occurred_at, run_id)
    SELECT id, 'late', 'x', now(), id FROM r),
  s AS (INSERT INTO finding_sight (id, finding_id, run_id, impact_usd, fields, evidence)
    SELECT id, id, id, -1.5, '[]', '{}' FROM r)
  INSERT INTO finding_step (id, finding_id, state, reason, impact_usd)
    SELECT id, id, 'explained', 'x', 1 FROM r`;

/** Verifies the log after the real commands instead of simulated removals. */
describe('the log after erasing and pruning', () => {
  let scene: SealedScene;
  let wish: RemovalRequest;
  let held: string;
  const query: TestDatabase['query'] = (sql, parameters) => scene.database.query(sql, parameters);

  beforeAll(async () => {
    scene = await makeSealedScene();
    wish = { reason: 'a test', actor: null, signer: scene.signer, ring: scene.ring };
    await scene.withProxy(async (proxy) => {
      const { id, key } = await proxy.client('waiting', 'pay');
      await query('UPDATE client SET approval_over_usd = 0 WHERE id = $1', [id]);
      const credits = [{ email: 'ada1@example.com', valueInUSD: 3 }];
      const { body } = await proxy
        .post(key, '/payouts/credit', { credits })
        .set('Idempotency-Key', 'k')
        .expect(202);
      held = body.call_id;
      await query(ONE_OF_EACH);
    });
  });
  afterAll(() => scene.close());

  async function verified() {
    const sealer = await sealerClient(scene.database);
    await sealAll(
      new Sealing(scene.ring, await CheckpointFile.open(scene.checkpointFile, scene.ring)),
      sealer,
    );
    await sealer.end();
    return scene.verifyAfter();
  }
  const pruneAll = async (what: PruneRequest['what']) => {
    const before = new Date(Date.now() + 40 * 86_400_000); // After this month.
    const wishes = { ...wish, what, before, checkpointFile: scene.checkpointFile };
    const months = await prune(scene.client, wishes, false, () => undefined); // Two if one has just begun.
    return months.reduce((sum, { kept }) => sum + kept, 0);
  };

  it('proves everything without an erased person, and reports one without a signature', async () => {
    const person = { kind: 'email', key: 'ada1@example.com' } as const;
    const bodies = await findPlaces(scene.client, person, () => undefined);
    const erased = await erase(scene.client, person, bodies, wish);
    expect(erased.open).toEqual([held]);
    expect(erased.places.filter((place) => place.startsWith('item_recipient'))).toEqual([
      ...[scene.calls[1], scene.later[1]].map((call) => `item_recipient/${call}/0`),
    ]);
    for (const table of ['access_filters', 'upstream_transaction'])
      expect([table, erased.places.some((place) => place.startsWith(table))]).toEqual([table, true]);
    const report = await verified();
    expect(report).toMatchObject({ ok: true, erasures: 1 });
    const kinds = `SELECT count(DISTINCT kind)::int AS kinds FROM audit.leaves
      WHERE record_id = (SELECT id FROM source_read)`;
    expect(await query(kinds)).toEqual([{ kinds: 9 }]);
    const unsigned = await scene.verifyAfter(`UPDATE erasure SET places = places[2:]`);
    expect(unsigned.ok).toBe(false);
  });

  it('proves everything without the bodies and people of a month', async () => {
    expect(await pruneAll('people')).toBe(1);
    expect((await query('SELECT intent_id FROM intent_body')).map(({ intent_id: id }) => id)).toEqual([held]);
    expect(await verified()).toMatchObject({ ok: true, prunings: expect.any(Number) });
  });

  it('proves everything sealed without the calls of a month, and the calls that remain', async () => {
    expect(await pruneAll('calls')).toBe(1);
    expect((await query('SELECT id FROM intent')).map(({ id }) => id)).toEqual([held]);
    expect(await verified()).toMatchObject({ ok: true });
    const lost = await scene.verifyAfter(`DELETE FROM intent`);
    expect(lost.fault).toMatchObject({ record_id: held });
  });

  it.each([-600_000, 600_000])('stays valid if the clock of the erasure is %i ms off', async (apart) => {
    const row = { id: uuidv7(), kind: 'email' as const, reason: 'x', actor: null, places: [] };
    const erasure = { ...row, erased_at: new Date(Date.now() + apart) };
    await query(
      'INSERT INTO erasure (id, kind, reason, places, erased_at, signature) VALUES ($1, $2, $3, $4, $5, $6)',
      [row.id, row.kind, row.reason, [], erasure.erased_at, signRecord(scene.signer, 'erasure', erasure)],
    );
    expect(await scene.verifyAfter()).toMatchObject({ ok: true });
    expect(await verified()).toMatchObject({ ok: true });
  });

  it('removes a kept call after its settlement', async () => {
    await query(
      `INSERT INTO decision (intent_id, kind, reason, client_id, key_id, process)
       VALUES ($1, 'rejected', 'x', $1, $1, 1)`,
      [held],
    );
    expect(await verified()).toMatchObject({ ok: true });
    expect(await pruneAll('calls')).toBe(0);
    expect(await query('SELECT FROM intent')).toEqual([]);
    expect(await verified()).toMatchObject({ ok: true });
    const undecided = await scene.verifyAfter('DELETE FROM decision'); // No prune removes decisions.
    expect(undecided.fault).toMatchObject({ code: 'record_missing', kind: 'decision', record_id: held });
  });
});
