import supertest from 'supertest';
import { FakeUpstream } from './support/fake-upstream';
import { startProxy, TestProxy } from './support/proxy';

/** Addresses that lead nowhere, or that the router itself refuses. */
describe('an address that leads to no route', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let key: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    ({ key } = await proxy.client('app', 'pay', 'write', 'read', 'account'));
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  it.each(['/nope', '/api/v0.1/%zz', '/v1/audit/calls/%', '/v1/nope', '/api/v0.1/payouts/nope'])(
    'answers %s with 404, a call id and no word of the address',
    async (path) => {
      const { body, headers } = await supertest(proxy.url).get(path).set('X-API-Key', key).expect(404);
      expect(body).toMatchObject({ code: 'not_found', call_id: headers['x-call-id'] });
      expect(headers).toMatchObject({
        'x-request-id': expect.any(String),
        'server-timing': expect.stringMatching(/^total;dur=\d+\.\d\d$/),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(JSON.stringify(body)).not.toContain(path);
    },
  );

  it('takes an id of any length for one that does not exist', async () => {
    const { body } = await proxy.get(key, `/v1/calls/${'x'.repeat(500)}`).expect(404);
    expect(body.code).toBe('call_not_found');
  });

  it('does not forward a HEAD', async () => {
    await supertest(proxy.url).head('/api/v0.1/wallets/list').set('X-API-Key', key).expect(404);
    expect(upstream.received).toEqual([]);
  });
});
