import { Cookies } from '../../support/access/provider/flow';
import {
  AttackedSignIn,
  expectNoLoginBy,
  expectNoLoginElsewhere,
  expectNoSecondLogin,
  FORGED_CALLBACKS,
  FORGED_LOGOUTS,
  logOutWith,
} from '../../support/access/sign-in-attacks';
import { open } from '../../support/access/signing-in';
import {
  AIRTIME,
  approachPageCallback,
  createPageClient,
  ofPage,
  PAGE_ORIGIN,
  PageScene,
  payOnPage,
  PageVisitor,
  readPageSession,
  signInToPage,
  startPageScene,
} from '../../support/console/page-scene';
import supertest from '../../support/http/supertest';

const COOKIE = 'payout_proxy_page_wallet';
const TRANSACTION = 'payout_proxy_sign_in_wallet';

describe('an attacker of page sessions', () => {
  let scene: PageScene;
  let url: string;
  let alice: PageVisitor;
  let console: { cookie: string; csrfToken: string };

  beforeAll(async () => {
    scene = await startPageScene();
    url = scene.proxy.url;
    await createPageClient(scene.proxy, scene.provider, 'shop', { origins: ['http://shop.proxy.test'] });
    await scene.proxy.database.query(
      "UPDATE client SET origins = origins || '{http://other.proxy.test}' WHERE name = 'shop'",
    );
    alice = await signInToPage(url, 'alice');
    const { key } = await scene.proxy.client('ops', 'admin', 'pay', 'read');
    const answer = await supertest(url).post('/v1/session').set('X-API-Key', key).expect(200);
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    console = { cookie, csrfToken: answer.body.csrf_token };
  });
  afterAll(() => scene.close());

  const sessions = async () => (await scene.proxy.database.query('SELECT FROM page_session')).length;
  const signIn: AttackedSignIn = {
    approach: (sub) => approachPageCallback(url, sub),
    names: { session: COOKIE, transaction: TRANSACTION },
    done: 303,
    sessions,
  };
  const payWith = (headers: Record<string, string>) =>
    supertest(url)
      .post('/api/v0.1/payouts/airtime')
      .set({ Origin: PAGE_ORIGIN, 'Sec-Fetch-Site': 'same-site', ...headers })
      .send(AIRTIME);
  const codeOf = async (request: PromiseLike<{ status: number; body: unknown }>) => {
    const { status, body } = await request;
    return `${status} ${String((body as { code?: string }).code)}`;
  };

  it('cannot pay or read with the cookie alone (CSRF)', async () => {
    const Cookie = alice.cookies.header;
    const before = await scene.proxy.database.query('SELECT FROM intent');
    expect(await codeOf(payWith({ Cookie }))).toBe('403 csrf');
    expect(await codeOf(supertest(url).get('/v1/calls').set({ Cookie, Origin: PAGE_ORIGIN }))).toBe(
      '403 csrf',
    );
    expect(await codeOf(supertest(url).delete('/v1/page-sessions/wallet').set({ Cookie }))).toBe('403 csrf');
    const bob = await signInToPage(url, 'bob');
    for (const token of [bob.csrfToken, console.csrfToken, '', 'x', alice.csrfToken.slice(1)])
      expect(await codeOf(payWith({ Cookie, 'X-CSRF-Token': token }))).toBe('403 csrf');
    expect(await scene.proxy.database.query('SELECT FROM intent')).toEqual(before);
  });

  it.each<[string, Record<string, string>, string]>([
    ['another origin of the same site', { Origin: 'http://evil.proxy.test' }, '403 origin_not_allowed'],
    ['an origin of another client', { Origin: 'http://shop.proxy.test' }, '403 origin_not_allowed'],
    ['a hidden origin', { Origin: 'null' }, '403 origin_not_allowed'],
    ['another site, by a browser that sends the cookie', { 'Sec-Fetch-Site': 'cross-site' }, '403 csrf'],
  ])('cannot act from %s', async (_case, headers, code) => {
    expect(await codeOf(payWith({ ...ofPage(alice), ...headers }))).toBe(code);
    const read = {
      Cookie: alice.cookies.header,
      Origin: PAGE_ORIGIN,
      'Sec-Fetch-Site': 'same-site',
      ...headers,
    };
    expect(await codeOf(supertest(url).get('/v1/page-sessions/wallet').set(read))).toBe(code);
  });

  it('cannot read the CSRF token through an image, script or form of the same site', async () => {
    const answer = supertest(url)
      .get('/v1/page-sessions/wallet')
      .set({ Cookie: alice.cookies.header, 'Sec-Fetch-Site': 'same-site' });
    expect(await codeOf(answer)).toBe('403 origin_not_allowed');
  });

  it('cannot read responses from another origin, even one that another client allows', async () => {
    const preflight = async (origin: string) => {
      const { headers } = await fetch(`${url}/api/v0.1/payouts/airtime`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-csrf-token,content-type,idempotency-key',
        },
      });
      return [headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')];
    };
    await scene.proxy.client('plain', 'read');
    await scene.proxy.database.query(
      "UPDATE client SET origins = '{http://plain.proxy.test}' WHERE name = 'plain'",
    );
    expect(await preflight(PAGE_ORIGIN)).toEqual([PAGE_ORIGIN, 'true']);
    expect(await preflight('http://plain.proxy.test')).toEqual(['http://plain.proxy.test', null]);
    expect(await preflight('http://evil.proxy.test')).toEqual([null, null]);
  });

  it('cannot use the cookie secret as another credential, or another secret as the cookie', async () => {
    const token = alice.cookies.values.get(COOKIE) ?? '';
    const [, consoleToken = ''] = console.cookie.split('=');
    expect(await codeOf(payWith({ 'X-API-Key': token }))).toMatch(/^401 invalid_key/);
    expect(await codeOf(payWith({ Authorization: `Bearer ${token}` }))).toMatch(/^401 invalid_token/);
    expect(await codeOf(supertest(url).get('/v1/session').set('Cookie', `payout_proxy=${token}`))).toBe(
      '401 session_ended',
    );
    const headers = { Cookie: `${COOKIE}=${consoleToken}`, 'X-CSRF-Token': console.csrfToken };
    expect(await codeOf(payWith(headers))).toBe('401 session_ended');
    expect(
      await codeOf(
        supertest(url).get('/v1/page-sessions/shop').set('Cookie', `payout_proxy_page_shop=${token}`),
      ),
    ).toBe('401 session_ended');
  });

  it('cannot pay with the cookie of the console', async () => {
    const headers = { Cookie: console.cookie, 'X-CSRF-Token': console.csrfToken };
    expect(await codeOf(supertest(url).post('/api/v0.1/payouts/airtime').set(headers).send(AIRTIME))).toBe(
      '401 missing_key',
    );
  });

  it('gets nothing of the console in a browser that is signed in to both', async () => {
    const page = alice.cookies.header;
    const own = (cookie: string) =>
      supertest(url).get('/v1/session').set({ Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' });
    expect(await codeOf(own(page))).toBe('401 missing_key');
    expect((await own(`${page}; ${console.cookie}`).expect(200)).body.client).toBe('ops');
    const both = { Cookie: `${page}; ${console.cookie}` };
    const act = supertest(url)
      .post('/v1/clients')
      .send({ name: 'acted', scopes: ['read'] });
    await act
      .set({ ...both, 'X-CSRF-Token': console.csrfToken, 'Sec-Fetch-Site': 'same-origin' })
      .expect(201);
    expect(
      await codeOf(
        supertest(url)
          .get('/v1/clients')
          .set({ ...ofPage(alice), ...both }),
      ),
    ).toBe('403 secret_key_required');
  });

  it('cannot expand a session with an additional key or token', async () => {
    const { key } = await scene.proxy.client('widest', 'pay', 'admin', 'read');
    expect(await codeOf(payWith({ ...ofPage(alice), 'X-API-Key': key }))).toBe('403 key_in_browser');
  });

  it('cannot plant cookies from a sibling host', async () => {
    const https = { 'X-Forwarded-Proto': 'https' };
    const answer = supertest(url)
      .get('/v1/page-sessions/wallet')
      .set({ ...https, Cookie: alice.cookies.header });
    // without the prefix, any host of the domain could have set it
    expect(await codeOf(answer)).toBe('401 session_ended');
    const { cookies, callback } = await approachPageCallback(url, 'alice');
    expect((await fetch(callback, { headers: { ...https, cookie: cookies.header } })).status).toBe(400);
  });

  it('cannot finish a sign-in in the browser of a victim (login CSRF)', () => expectNoLoginElsewhere(signIn));

  it.each(FORGED_CALLBACKS)('cannot use a callback %s', (_case, parameters) =>
    expectNoLoginBy(parameters, signIn),
  );

  it('cannot replay a callback', () => expectNoSecondLogin(signIn));

  it('cannot finish a sign-in for another client', async () => {
    const attacker = await approachPageCallback(url, 'bob');
    const before = await sessions();
    const elsewhere = attacker.callback.replace('/pages/wallet/', '/pages/shop/');
    expect((await open(attacker.cookies, elsewhere)).status).toBe(400);
    const moved = new Cookies();
    moved.values.set('payout_proxy_sign_in_shop', attacker.cookies.values.get(TRANSACTION) ?? '');
    expect((await open(moved, elsewhere)).status).toBe(400); // the page belongs to another client
    expect(await sessions()).toBe(before);
  });

  it('cannot redirect away from the page after the sign-in', async () => {
    const { cookies, callback } = await approachPageCallback(url, 'alice');
    const begun = Buffer.from(cookies.values.get(TRANSACTION) ?? '', 'base64url').toString();
    const transaction = JSON.parse(begun) as object;
    const forged = JSON.stringify({ ...transaction, returnTo: 'https://evil.example/' });
    cookies.values.set(TRANSACTION, Buffer.from(forged).toString('base64url'));
    const { status, location, page } = await open(cookies, callback);
    expect([status, location]).toEqual([400, null]);
    expect(page).not.toContain('evil');
  });

  it('cannot fix a session that the victim then signs in to', async () => {
    const planted = await signInToPage(url, 'bob');
    const victim = new Cookies();
    victim.values.set(COOKIE, planted.cookies.values.get(COOKIE) ?? '');
    const own = await signInToPage(url, 'alice', { cookies: victim });
    expect(own.cookies.values.get(COOKIE)).not.toBe(planted.csrfToken);
    expect(await codeOf(payOnPage(url, planted))).toBe('401 session_ended'); // replaced
  });

  it('finds neither session secrets nor names of persons in the database', async () => {
    const rows = await scene.proxy.database.query('SELECT s::text AS line, id_token FROM page_session s');
    const text = rows.map(({ line }) => String(line)).join('\n');
    const token = alice.cookies.values.get(COOKIE) ?? '';
    expect(text.length).toBeGreaterThan(100);
    for (const secret of [token, Buffer.from(token).toString('hex'), alice.csrfToken, 'alice'])
      expect(text).not.toContain(secret);
    for (const { id_token: sealed } of rows)
      expect(Buffer.from(sealed as Uint8Array).toString()).not.toContain('eyJ');
  });

  it.each(FORGED_LOGOUTS)('ends nothing with the logout token %p', async (body) => {
    expect(await logOutWith(url, body)).toBe(400);
    await readPageSession(url, alice.cookies).expect(200);
  });
});
