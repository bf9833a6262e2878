import { mint } from '../../support/access/minting';
import supertest from '../../support/http/supertest';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const ID = '019ac000-0000-7000-8000-000000000000';

describe('the revocation of ephemeral keys', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let shop: { id: string; name: string; key: string };

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    shop = await proxy.client('shop', 'pay', 'write', 'read', 'account');
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const remove = <const Path extends string>(key: string, path: Path) =>
    supertest(proxy.url).delete(path).set('X-API-Key', key);

  it('leaves the client row unchanged if nothing is revoked', async () => {
    const quiet = await proxy.client('quiet', 'pay');
    const { id } = await mint(proxy, quiet.key);
    await remove(quiet.key, '/v1/ephemeral-keys?actor=ada').expect(200);
    // A new version of the row makes every instance look up the client's callers again.
    const version = () => proxy.database.query('SELECT xmin::text FROM client WHERE id = $1', [quiet.id]);
    const before = await version();
    for (const path of ['/v1/ephemeral-keys?actor=ada', `/v1/ephemeral-keys/${id}`] as const) {
      expect((await remove(quiet.key, path).expect(200)).body).toEqual({ revoked: [] });
    }
    expect(await version()).toEqual(before);
  });

  it('revokes one key, or all keys of a person, of its own client', async () => {
    const revoker = await proxy.client('revoker', 'pay');
    const [first, second, third] = [
      await mint(proxy, revoker.key),
      await mint(proxy, revoker.key),
      await mint(proxy, revoker.key, { actor: 'grace' }),
    ];
    for (const id of [first.id, ID, 'x']) {
      expect((await remove(shop.key, `/v1/ephemeral-keys/${id}`).expect(404)).body.code).toBe(
        'ephemeral_key_not_found',
      );
    }
    expect((await remove(shop.key, '/v1/ephemeral-keys?actor=ada').expect(200)).body.revoked).not.toContain(
      first.id,
    );
    await remove(revoker.key, '/v1/ephemeral-keys').expect(400);
    const paths = [
      `/v1/ephemeral-keys/${first.id}`,
      `/v1/ephemeral-keys/${first.id}`,
      '/v1/ephemeral-keys?actor=ada',
    ];
    const revoked = [];
    for (const path of paths) revoked.push((await remove(revoker.key, path).expect(200)).body);
    expect(revoked).toEqual([{ revoked: [first.id] }, { revoked: [] }, { revoked: [second.id] }]);
    const { body } = await proxy.get(revoker.key, '/v1/ephemeral-keys').expect(200);
    expect(body.ephemeral_keys.map(({ id, state }) => [id, state])).toEqual([
      [third.id, 'active'],
      [second.id, 'revoked'],
      [first.id, 'revoked'],
    ]);
    const auditor = await proxy.client('revocations', 'audit');
    const acts = await proxy
      .get(auditor.key, '/v1/activity?action=ephemeral_key_revoked&client=revoker')
      .expect(200);
    expect(acts.body.activity.map(({ target }) => target.key_id)).toEqual([second.id, first.id]);
  });
});
