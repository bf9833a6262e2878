import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { Ours, writeOurs } from '../../support/reconciliation/comparison';
import { at, database, day, listed, OLD, run, useDatabase } from '../../support/reconciliation/listing-scene';

describe('a key with two paid calls', () => {
  useDatabase('of each test');

  /** Writes a paid call with a key. Calls of one client share a key. */
  async function withKey(upstream_ref: string, seconds: number, key: string, more: Partial<Ours> = {}) {
    const call_id = uuidv7({ msecs: day + seconds * 1_000 });
    await writeOurs(database, [
      {
        call_id,
        operation: 'POST /payouts/credit',
        at: at(seconds),
        kind: 'succeeded',
        usd: '10',
        upstream_ref,
        client_id: CLIENT,
        ...more,
      },
    ]);
    await database.query('INSERT INTO intent_body (intent_id, idempotency_key) VALUES ($1, $2)', [
      call_id,
      key,
    ]);
    return call_id;
  }
  const CLIENT = uuidv7();
  const claim = (key: string, call_id: string) =>
    database.query(
      `INSERT INTO idempotency_claim (client_id, operation, key, intent_id)
        VALUES ($1, 'POST /payouts/credit', $2, $3)`,
      [CLIENT, key, call_id],
    );
  const both = () => [OLD(), listed('a', 11), listed('b', 21)];

  it('is found although the listing matches both, also after a later settlement', async () => {
    const settled = await withKey('a', 10, 'k"1', { kind: 'unknown', resolution: 'confirmed' });
    await claim('k"1', await withKey('b', 20, 'k"1'));
    expect(await run(both())).toEqual(['findings', [], [`key_paid_twice call/${settled}/key 0`]]);
  });

  const ERASED = `sha256 ${createHash('sha256').update('k').digest('hex')}`;
  it.each([
    ['another period', 'k'],
    ['another period, and both keys were erased', ERASED],
  ])('is found if the second call is of %s', async (_what, key) => {
    const settled = await withKey('a', 10, key);
    await claim(key, await withKey('later', 3 * 86_400, key));
    expect((await run([OLD(), listed('a', 11)]))[2]).toEqual([`key_paid_twice call/${settled}/key 0`]);
  });

  it('is no finding for two keys, or if one call was not executed', async () => {
    await withKey('a', 10, 'k');
    await withKey('b', 20, 'l');
    await withKey('c', 30, 'k', { kind: 'rejected', upstream_ref: null });
    expect(await run(both())).toEqual(['clean', [], []]);
  });
});
