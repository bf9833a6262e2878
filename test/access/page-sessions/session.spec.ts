import { removeExpired } from '../../support/databases/expiry';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const MINUTE = "interval '1 minute'";

describe('a console session', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let twin: TestProxy;
  let key: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    const settings = { upstreamBaseUrl: upstream.url, consoleIdleMinutes: 10, trustedProxies: ['127.0.0.1'] };
    proxy = await startProxy(settings, database);
    twin = await startProxy(settings, database);
    ({ key } = await proxy.client('operator', 'admin', 'audit', 'pay', 'read'));
  });
  afterAll(async () => {
    await proxy.close();
    await twin.close();
    await upstream.stop();
    await database.close();
  });

  async function signIn(headers: Record<string, string> = {}) {
    const { body, headers: received } = await supertest(proxy.url)
      .post('/v1/session')
      .set({ 'X-API-Key': key, ...headers })
      .expect(200);
    const setCookie = String(received['set-cookie']);
    return { body, setCookie, cookie: setCookie.split(';')[0] ?? '' };
  }
  const read = (cookie: string, headers: Record<string, string> = {}) =>
    supertest(proxy.url)
      .get('/v1/clients')
      .set({ Cookie: cookie, ...headers });

  it('begins with a key, and shows the owner of the key', async () => {
    const { body, setCookie } = await signIn();
    expect(body).toEqual({
      client: 'operator',
      key_id: expect.any(String),
      person: null,
      signed_in_with: 'key',
      scopes: ['admin', 'audit', 'pay', 'read'],
      idle_minutes: 10,
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      sandbox: false,
    });
    expect(setCookie).toMatch(/^payout_proxy=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  it('is limited to TLS if it began with TLS', async () => {
    const { setCookie } = await signIn({ 'X-Forwarded-Proto': 'https' });
    expect(setCookie).toMatch(/^__Host-payout_proxy=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  });

  it('stores only hashes of its secret and its key', async () => {
    const { cookie } = await signIn();
    const rows = JSON.stringify(
      await database.query('SELECT s.*, encode(sha256, $1) FROM console_session s', ['escape']),
    );
    expect(rows).not.toContain(cookie.split('=')[1]);
    expect(rows).not.toContain(key);
  });

  it('reads /v1 on every instance, and cannot call the interface', async () => {
    const { cookie, body } = await signIn();
    await read(cookie).expect(200);
    await supertest(twin.url).get('/v1/clients').set('Cookie', cookie).expect(200);
    const before = upstream.received.length;
    const pay = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1 }] };
    for (const path of [
      '/api/v0.1/payouts/airtime',
      '/api//v0.1/payouts/airtime',
      '/api/v0.1/payouts/%61irtime',
    ]) {
      const answer = await supertest(proxy.url)
        .post(path)
        .set({ Cookie: cookie, 'X-CSRF-Token': body.csrf_token })
        .send(pay);
      expect([401, 404]).toContain(answer.status);
    }
    expect(upstream.received.length).toBe(before);
  });

  it('changes nothing without its CSRF token', async () => {
    const { cookie, body } = await signIn();
    const other = await signIn();
    const create = (name: string, headers: Record<string, string>) =>
      supertest(proxy.url)
        .post('/v1/clients')
        .set({ Cookie: cookie, ...headers })
        .send({ name, scopes: ['read'] });
    for (const token of [undefined, '', 'x', other.body.csrf_token, `${body.csrf_token}x`]) {
      const answer = await create('forged', token === undefined ? {} : { 'X-CSRF-Token': token }).expect(403);
      expect(answer.body.code).toBe('csrf');
    }
    await supertest(proxy.url).delete('/v1/session').set('Cookie', cookie).expect(403);
    await create('intended', { 'X-CSRF-Token': body.csrf_token }).expect(201);
  });

  it('rejects pages of other sites, even for reads', async () => {
    const { cookie, body } = await signIn();
    for (const site of ['cross-site', 'same-site']) {
      await read(cookie, { 'Sec-Fetch-Site': site }).expect(403);
      await read(cookie, { 'Sec-Fetch-Site': site, 'X-CSRF-Token': body.csrf_token }).expect(403);
    }
    for (const site of ['same-origin', 'none']) await read(cookie, { 'Sec-Fetch-Site': site }).expect(200);
  });

  it('starts no other session', async () => {
    const { cookie, body } = await signIn();
    const headers = { Cookie: cookie, 'X-CSRF-Token': body.csrf_token };
    const answer = await supertest(proxy.url).post('/v1/session').set(headers).expect(403);
    expect(answer.body.code).toBe('no_session');
  });

  it('ends after idle time, and continues with use', async () => {
    const { cookie } = await signIn();
    const idleFor = (minutes: number) =>
      database.query(`UPDATE console_session SET used_at = now() - ${minutes} * ${MINUTE}`);
    await idleFor(9);
    await read(cookie).expect(200);
    const [row] = await database.query(
      `SELECT max(used_at) > now() - ${MINUTE} AS used FROM console_session`,
    );
    expect(row?.used).toBe(true);
    await idleFor(11);
    const answer = await read(cookie).expect(401);
    expect(answer.body.code).toBe('session_ended');
  });

  it('ends after twelve hours, even with use', async () => {
    const { cookie } = await signIn();
    await database.query(`UPDATE console_session SET created_at = now() - 721 * ${MINUTE}`);
    await read(cookie).expect(401);
    await signIn();
    await removeExpired(proxy);
    expect(await database.query('SELECT FROM console_session')).toHaveLength(1);
  });

  it('ends with its key, at once and on every instance', async () => {
    const { cookie, body } = await signIn();
    await database.query('UPDATE api_key SET revoked_at = now() WHERE id = $1', [body.key_id]);
    await read(cookie).expect(401);
    await supertest(twin.url).get('/v1/clients').set('Cookie', cookie).expect(401);
    await database.query('UPDATE api_key SET revoked_at = NULL WHERE id = $1', [body.key_id]);
  });

  it('appears as its key in every access record', async () => {
    const { cookie, body } = await signIn();
    await supertest(proxy.url).get('/v1/audit/calls').set('Cookie', cookie).expect(200);
    const accesses = await proxy.get(key, '/v1/audit/accesses').expect(200);
    expect(accesses.body.accesses[0]).toMatchObject({ key_id: body.key_id, route: 'GET /v1/audit/calls' });
  });

  it('works only from pages of the proxy, not from origins of its client', async () => {
    const { key: listed } = await proxy.client('listed', 'audit');
    await database.query("UPDATE client SET origins = '{https://shop.example}' WHERE name = 'listed'");
    const ask = (origin: string) =>
      supertest(proxy.url).post('/v1/session').set({ 'X-API-Key': listed, Origin: origin });
    await ask(proxy.url).expect(200);
    await ask('https://evil.example').expect(403);
  });
});
