import { WRONG_KEYS_ALLOWED } from '../../../src/access/auth/key-guessing';
import { hashKey, newKey } from '../../../src/access/clients/key';
import { SidePrisma } from '../../../src/platform/database/pools/side-prisma';
import supertest from '../../support/http/supertest';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const WALLETS = '/api/v0.1/wallets/list';
const GUESSER = '198.51.100.7';

/** The tests send addresses like a trusted reverse proxy. */
describe('key guessing', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, trustedProxies: ['127.0.0.1'] });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const ask = (key: string, address = GUESSER, path = WALLETS) => {
    const request = supertest(proxy.url).get(path).set('X-Forwarded-For', address);
    return key === '' ? request : request.set('X-API-Key', key);
  };

  it('returns 429 after repeated wrong keys, but not for a valid key from the same address', async () => {
    const newcomer = await proxy.client('newcomer', 'read', 'account', 'audit');
    for (let missing = 0; missing <= WRONG_KEYS_ALLOWED; missing++) await ask('').expect(401);
    for (let wrong = 0; wrong < WRONG_KEYS_ALLOWED; wrong++) await ask(`pp_x_${wrong}`).expect(401);

    const { headers, body } = await ask('pp_x_one_more').expect(429);
    expect(body).toMatchObject({ status: 'error', code: 'too_many_attempts', call_id: headers['x-call-id'] });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    await ask('pp_x_another', GUESSER, '/v1/audit/calls')
      .expect(429)
      .expect('Content-Type', /problem\+json/);

    await ask(newcomer.key).expect(200); // this instance has never seen it before
    await ask(newcomer.key, GUESSER, '/v1/audit/calls').expect(200);
    await supertest(proxy.url)
      .post('/v1/session')
      .set('X-Forwarded-For', GUESSER)
      .set('X-API-Key', newcomer.key)
      .expect(200);
    await ask('pp_x_0', '198.51.100.8').expect(401);
    await ask('').expect(401);
    await supertest(proxy.url).get('/livez').set('X-Forwarded-For', GUESSER).expect(200);
    const { text } = await supertest(proxy.url).get('/metrics').expect(200);
    expect(text).toContain('payout_proxy_problems_total{code="too_many_attempts"} 2');
    // their clients are unknown
    expect(await proxy.database.query('SELECT 1 FROM refusal')).toEqual([]);
  });

  it('rejects a wrong checksum without a database query, and counts it', async () => {
    const { key } = await proxy.client('mistyped', 'read', 'account');
    const letter = key.slice(-1) === 'a' ? 'b' : 'a';
    const prepared = jest.spyOn(proxy.app.get(SidePrisma), 'prepared');
    const [typo, stranger] = [`${key.slice(0, -1)}${letter}`, newKey('mistyped')];
    const address = '198.51.100.9';
    for (let wrong = 0; wrong < WRONG_KEYS_ALLOWED; wrong++) {
      expect((await ask(typo, address).expect(401)).body).toMatchObject({ code: 'invalid_key' });
    }
    await ask(typo, address).expect(429);
    expect(prepared).not.toHaveBeenCalled();
    await ask(stranger, address).expect(429);
    expect(prepared.mock.calls.map(([name]) => name)).toEqual(['find_keys']);
    prepared.mockRestore();
    await ask(key, address).expect(200);
  });

  it('queries one unknown key at a time, and admits known keys first', async () => {
    const known = await proxy.client('known', 'read', 'account');
    const unknown = await proxy.client('unknown', 'read', 'account');
    await ask(known.key).expect(200);
    const prisma = proxy.app.get(SidePrisma);
    const prepared = prisma.prepared.bind(prisma);
    const lookUps: number[] = [];
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const knownSha256 = hashKey(known.key);
    jest.spyOn(prisma, 'prepared').mockImplementation(async (name, text, values) => {
      const hashes = values[0] as Buffer;
      if (name !== 'find_keys' || hashes.includes(knownSha256)) return prepared(name, text, values);
      lookUps.push(hashes.length);
      await held; // simulates slow look-ups of guesses
      return prepared(name, text, values);
    });
    const guesses = Array.from({ length: 60 }, () => ask(newKey('flood')).then(({ status }) => status));
    const newcomer = ask(unknown.key).then(({ status }) => status);
    await eventually(() => lookUps.length > 0);
    await ask(known.key).expect(200);
    expect(lookUps).toHaveLength(1);
    goOn();
    expect(await newcomer).toBe(200);
    expect((await Promise.all(guesses)).every((status) => status === 401 || status === 429)).toBe(true);
  });
});
