import supertest from 'supertest';
import { WRONG_KEYS_ALLOWED } from '../src/auth/key-guessing';
import { CallersService } from '../src/auth/callers.service';
import { FakeUpstream } from './support/fake-upstream';
import { startProxy, TestProxy } from './support/proxy';

const WALLETS = '/api/v0.1/wallets/list';
const GUESSER = '198.51.100.7';

/** Somebody tries keys. The tests name addresses as a reverse proxy that is trusted would. */
describe('key guessing', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let identify: jest.SpyInstance;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, trustedProxies: ['127.0.0.1'] });
    identify = jest.spyOn(proxy.app.get(CallersService, { strict: false }), 'identify');
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const ask = (key: string, address = GUESSER, path = WALLETS) => {
    const request = supertest(proxy.url).get(path).set('X-Forwarded-For', address);
    return key === '' ? request : request.set('X-API-Key', key);
  };

  it('ends after some wrong keys: then nothing is asked of the database, and a key that is known goes on', async () => {
    const neighbour = await proxy.client('neighbour', 'read', 'account');
    const newcomer = await proxy.client('newcomer', 'read', 'account');
    await ask(neighbour.key).expect(200);
    for (let missing = 0; missing <= WRONG_KEYS_ALLOWED; missing++) await ask('').expect(401);
    for (let wrong = 0; wrong <= WRONG_KEYS_ALLOWED; wrong++) await ask(`pp_x_${wrong}`).expect(401);

    const asked = identify.mock.calls.length;
    const { headers, body } = await ask('pp_x_one_more').expect(429);
    expect(body).toMatchObject({ status: 'error', code: 'too_many_attempts', call_id: headers['x-call-id'] });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    await ask(newcomer.key, GUESSER, '/v1/audit/calls')
      .expect(429)
      .expect('Content-Type', /problem\+json/);
    expect(identify.mock.calls.length).toBe(asked);

    await ask(neighbour.key).expect(200);
    await ask(newcomer.key, '198.51.100.8').expect(200);
    await ask(newcomer.key).expect(200); // now it is known
    await ask('').expect(401);
    await supertest(proxy.url).get('/livez').set('X-Forwarded-For', GUESSER).expect(200);
    const { text } = await supertest(proxy.url).get('/metrics').expect(200);
    expect(text).toContain('payout_proxy_problems_total{code="too_many_attempts"} 2');
    expect(await proxy.database.query('SELECT 1 FROM refusal')).toEqual([]); // nobody knows whose requests they were
  });
});
