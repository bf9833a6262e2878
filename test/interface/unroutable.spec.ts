import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** Unknown addresses, and those that the router itself refuses. */
describe('an unroutable address', () => {
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
    'returns 404 for %s, with a call ID and without the address',
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

  it.each([
    ['get', '/api/v2/wallets/list'],
    ['get', '/api/v0.1/%zz'],
  ] as const)(
    'returns the interface envelope for %s %s, like everything below /api/',
    async (method, path) => {
      const { body, type } = await supertest(proxy.url)[method](path).set('X-API-Key', key).expect(404);
      expect(type).toBe('application/json');
      expect(body).toMatchObject({ status: 'error', code: 'not_found', action: 'fix_request' });
      await supertest(proxy.url)[method](path).expect(401);
    },
  );

  it.each(['/nope', '/v1/nope', '/%zz', `/v1/calls/${'x'.repeat(2_000)}`])(
    'returns problem details for %s',
    async (path) => {
      const { body, type } = await supertest(proxy.url).get(path).set('X-API-Key', key).expect(404);
      expect(type).toBe('application/problem+json');
      expect(body).toMatchObject({
        status: 404,
        code: 'not_found',
        action: 'fix_request',
        error: expect.any(String),
      });
    },
  );

  it('returns 404 for an ID of any length', async () => {
    const { body } = await proxy.get(key, `/v1/calls/${'x'.repeat(500)}`).expect(404);
    expect(body.code).toBe('call_not_found');
  });

  describe('an unsupported method', () => {
    it.each([
      ['GET', '/api/v0.1/payouts/airtime', 'POST'],
      ['PUT', '/api/v0.1/payouts/airtime', 'POST'],
      ['DELETE', '/api/v0.1/p%61youts/airtime?a=b', 'POST'],
      ['OPTIONS', '/api/v0.1/payouts/airtime', 'POST'],
      ['HEAD', '/api/v0.1/payouts/airtime', 'POST'],
      ['HEAD', '/api/v0.1/wallets/list', 'GET, POST'],
      ['PURGE', '/api/v0.1/info/assets', 'GET'],
      ['POST', '/v1/calls', 'GET'],
      ['PATCH', '/v1/calls/019aaaaa-0000-7000-8000-000000000000', 'GET'],
      ['GET', '/v1/preview/payouts/airtime', 'POST'],
      ['POST', '/livez', 'GET'],
    ])('returns 405 for %s %s, which lists %s, with or without a key', async (method, path, allow) => {
      for (const headers of [{ 'X-API-Key': key }, {}]) {
        const answered = await fetch(proxy.url + path, { method, headers });
        expect([answered.status, answered.headers.get('allow')]).toEqual([405, allow]);
        if (method === 'HEAD') continue;
        const body = {
          code: 'method_not_allowed',
          action: 'fix_request',
          call_id: answered.headers.get('x-call-id'),
        };
        expect(await answered.json()).toMatchObject(body);
      }
      expect(upstream.received).toEqual([]);
    });

    it('returns 405 for every route of the document', async () => {
      const { body } = await supertest(proxy.url).get('/openapi.json').expect(200);
      for (const [path, item] of Object.entries((body as { paths: Record<string, object> }).paths)) {
        const answered = await fetch(proxy.url + path.replace(/[{}]/g, ''), { method: 'PUT' });
        const allowed = answered.headers.get('allow')?.split(', ').sort();
        const methods = Object.keys(item).filter((name) =>
          ['get', 'post', 'patch', 'delete', 'put'].includes(name),
        );
        if (methods.includes('put')) continue;
        expect([path, answered.status, allowed]).toEqual([
          path,
          405,
          expect.arrayContaining(methods.map((name) => name.toUpperCase())),
        ]);
      }
    });
  });
});
