import { mint } from '../../support/access/minting';
import supertest from '../../support/http/supertest';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const KEYS = '/v1/clients/till/keys';
const ALL = '/v1/clients/till/ephemeral-keys';

describe('the admin API for ephemeral keys', () => {
  let proxy: TestProxy;
  let admin: string;
  let till: string;
  let shop: string;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    shop = (await proxy.client('shop', 'pay', 'read')).key;
    admin = (await proxy.client('admin', 'admin')).key;
    till = (await proxy.client('till', 'pay', 'read', 'audit')).key;
  });
  afterAll(() => proxy.close());

  const remove = <const Path extends string>(key: string, path: Path) =>
    supertest(proxy.url).delete(path).set('X-API-Key', key);
  const active = async () => (await proxy.get(admin, KEYS).expect(200)).body.active_ephemeral_keys;

  it('counts the valid keys of a client', async () => {
    expect(await active()).toBe(0);
    const [first, second, third] = [
      await mint(proxy, till),
      await mint(proxy, till),
      await mint(proxy, till),
    ];
    await mint(proxy, shop);
    expect(await active()).toBe(3);
    await remove(till, `/v1/ephemeral-keys/${first.id}`).expect(200);
    await proxy.database.query(
      `UPDATE ephemeral_key SET created_at = now() - interval '2 minutes',
        expires_at = now() - interval '1 minute' WHERE id = $1`,
      [second.id],
    );
    expect(await active()).toBe(1);
    await proxy.database.query('UPDATE person SET revoked_at = now() WHERE name = $1 AND client_id = $2', [
      third.actor,
      (await proxy.get(admin, '/v1/clients/till').expect(200)).body.id,
    ]);
    expect(await active()).toBe(0);
  });

  it('revokes all keys of a client, and records the reason for each', async () => {
    const issued = [await mint(proxy, till, { actor: 'grace' }), await mint(proxy, till, { actor: 'hedy' })];
    const other = await mint(proxy, shop);
    const { body } = await remove(admin, `${ALL}?reason=Case+17`).expect(200);
    expect(body.revoked.toSorted()).toEqual(issued.map(({ id }) => id));
    expect(await active()).toBe(0);
    for (const { key } of issued) expect((await proxy.get(key, '/v1/limits')).status).toBe(401);
    await proxy.get(other.key, '/v1/limits').expect(200);
    const acts = await proxy.get(till, '/v1/activity?action=ephemeral_key_revoked&client=till').expect(200);
    const ofAdmin = acts.body.activity.filter(({ reason }) => reason === 'Case 17');
    expect(ofAdmin.map(({ target }) => target.key_id).toSorted()).toEqual(body.revoked.toSorted());
    expect((await remove(admin, ALL).expect(200)).body).toEqual({ revoked: [] });
    expect(await mint(proxy, till)).toMatchObject({ state: 'active' });
  });

  it('revokes in batches of a thousand without delaying payments', async () => {
    const { id } = await mint(proxy, till);
    await proxy.database.query(
      `INSERT INTO ephemeral_key SELECT (k).* FROM (
         SELECT json_populate_record(e,
           json_build_object('id', gen_random_uuid(), 'sha256', sha256(n::text::bytea))) AS k
         FROM ephemeral_key e, generate_series(1, 2500) n WHERE e.id = $1) AS copies`,
      [id],
    );
    const { body } = await remove(admin, `${ALL}?reason=Flood`).expect(200);
    expect(await active()).toBe(0);
    const acts = await proxy.database.query(
      "SELECT count(*)::int AS acts FROM activity WHERE reason = 'Flood' GROUP BY tx ORDER BY tx",
    );
    expect(acts.map((row) => row.acts)).toEqual([1_000, 1_000, body.revoked.length - 2_000]);
    expect(new Set(body.revoked).size).toBe(body.revoked.length);
    await mint(proxy, till);
  });

  it('requires the scope `admin`, and returns 404 for an unknown client', async () => {
    expect((await remove(till, ALL).expect(403)).body.code).toBe('scope_missing');
    expect((await remove(admin, '/v1/clients/nobody/ephemeral-keys').expect(404)).body.code).toBe(
      'client_not_found',
    );
    expect(await active()).toBe(1);
  });
});
