import { Cookies } from '../../support/access/provider/flow';
import { FORGED_LOGOUTS, logOutWith } from '../../support/access/sign-in-attacks';
import {
  approachCallback,
  atProvider,
  cookiesAtProvider,
  endSession,
  open,
  SignInScene,
  signInAs,
  signOutAt,
  startSignInScene,
  Visitor,
} from '../../support/access/signing-in';
import supertest from '../../support/http/supertest';
import { startProxy } from '../../support/processes/proxy';

/** People sign in to the console at the company's provider. */
describe('a sign-in at the provider', () => {
  let scene: SignInScene;
  let url: string;
  let aliceKey: string;

  beforeAll(async () => {
    scene = await startSignInScene();
    url = scene.proxy.url;
    aliceKey = await scene.allow('alice', 'ops', 'admin', 'audit');
  });
  afterAll(() => scene.close());

  const read = <const Path extends string>({ cookies }: Pick<Visitor, 'cookies'>, path: Path) =>
    supertest(url).get(path).set('Cookie', cookies.header);

  it('starts a session of the person, and sends no token to the browser', async () => {
    const alice = await signInAs(url, 'alice');
    const { body } = await read(alice, '/v1/session').expect(200);
    expect(body).toMatchObject({
      client: 'ops',
      key_id: aliceKey,
      person: 'alice',
      scopes: ['admin', 'audit'],
      signed_in_with: 'provider',
    });
    expect(alice.page).not.toContain('eyJ');
    const values = [...alice.cookies.values].filter(([name]) => name.startsWith('payout_proxy'));
    expect(values).toEqual([['payout_proxy', expect.stringMatching(/^[\w-]{43}$/)]]);
  });

  it('stores neither the session secret nor a readable token', async () => {
    const { cookies } = await signInAs(url, 'alice');
    const rows = JSON.stringify(
      await scene.proxy.database.query(
        "SELECT s.*, encode(id_token, 'escape') AS token FROM console_session s",
      ),
    );
    expect(rows).not.toContain(cookies.values.get('payout_proxy'));
    expect(rows).not.toContain('eyJ');
  });

  it('returns to the page where it began', async () => {
    const alice = await signInAs(url, 'alice', {
      from: '/session/sign-in?return_to=%2Fconsole%2Fcalls%3Fstate%3Dunknown',
    });
    expect(alice.page).toContain('content="0;url=/console/calls?state=unknown"');
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/v1/session',
    'javascript:alert(1)',
    '/console/../v1',
    '/consoles',
  ])('never returns to %s', async (to) => {
    const alice = await signInAs(url, 'alice', {
      from: `/session/sign-in?return_to=${encodeURIComponent(to)}`,
    });
    expect(alice.page).toContain('content="0;url=/console"');
  });

  it('records actions under the name of the person, with the console as the channel', async () => {
    const { cookies, csrfToken } = await signInAs(url, 'alice');
    const headers = { Cookie: cookies.header, 'X-CSRF-Token': csrfToken };
    await supertest(url)
      .post('/v1/clients')
      .set(headers)
      .send({ name: 'made', scopes: ['read'] })
      .expect(201);
    const [act] = await scene.proxy.database.query(
      `SELECT actor, via, key_id::text AS key FROM activity
       WHERE action = 'client_created' ORDER BY id DESC LIMIT 1`,
    );
    expect(act).toEqual({ actor: 'alice', via: 'console', key: aliceKey });
  });

  it('shows an unknown person the identity to send to an administrator', async () => {
    const { cookies, callback } = await approachCallback(url, 'carol');
    const { status, page } = await open(cookies, callback);
    expect(status).toBe(403);
    expect(page).toContain('You have no access yet');
    expect(page).toContain(`<dd>${scene.provider.issuer}</dd>`);
    expect(page).toContain('<dd>carol</dd>');
    expect(cookies.values.has('payout_proxy')).toBe(false);
  });

  it('ends its sessions at once when it is revoked', async () => {
    const bobKey = await scene.allow('bob', 'auditors', 'audit');
    const bob = await signInAs(url, 'bob');
    await read(bob, '/v1/session').expect(200);
    const alice = await signInAs(url, 'alice');
    await supertest(url)
      .delete(`/v1/clients/auditors/keys/${bobKey}`)
      .set({ Cookie: alice.cookies.header, 'X-CSRF-Token': alice.csrfToken })
      .expect(200);
    await read(bob, '/v1/session').expect(401);
    const { cookies, callback } = await approachCallback(url, 'bob');
    expect((await open(cookies, callback)).status).toBe(403);
  });

  it('ends its sessions when people can no longer sign in the same way', async () => {
    const alice = await signInAs(url, 'alice');
    const { key } = await scene.proxy.client('visitor', 'audit');
    const moved = await startProxy(
      { upstreamBaseUrl: scene.upstream.url, ...atProvider('https://another.example'), keySignIn: true },
      scene.proxy.database,
    );
    await supertest(moved.url).get('/v1/session').set('Cookie', alice.cookies.header).expect(401);
    const answer = await supertest(moved.url).post('/v1/session').set('X-API-Key', key).expect(200);
    const cookie = answer.headers['set-cookie']?.toString().split(';')[0] ?? '';
    await supertest(moved.url).get('/v1/session').set('Cookie', cookie).expect(200);
    await supertest(url).get('/v1/session').set('Cookie', cookie).expect(401); // takes no keys
    await moved.close();
  });

  it('is listed with the keys of its client', async () => {
    const alice = await signInAs(url, 'alice');
    const { body } = await read(alice, '/v1/clients/ops/keys').expect(200);
    expect(body).toMatchObject({
      keys: [
        { kind: 'secret', subject: null },
        {
          id: aliceKey,
          kind: 'sign_in',
          person: 'alice',
          subject: 'alice',
          state: 'active',
          last_used_at: expect.any(String),
        },
      ],
    });
  });

  it('belongs to one client only', async () => {
    const { cookies, csrfToken } = await signInAs(url, 'alice');
    const answer = await supertest(url)
      .post('/v1/clients/ops/sign-ins')
      .set({ Cookie: cookies.header, 'X-CSRF-Token': csrfToken })
      .send({ person: 'alice', subject: 'alice' })
      .expect(409);
    expect(answer.body.code).toBe('sign_in_exists');
  });

  it('excludes sign-in by key, unless configured', async () => {
    const { key } = await scene.proxy.client('machine', 'admin');
    const answer = await supertest(url).post('/v1/session').set('X-API-Key', key).expect(403);
    expect(answer.body.code).toBe('key_sign_in_off');
  });

  const end = ({ cookies, csrfToken }: Visitor) =>
    endSession(`${url}/v1/session`, cookies, { 'X-CSRF-Token': csrfToken });

  it('signs out of the proxy and the provider', async () => {
    const alice = await signInAs(url, 'alice');
    const { endSessionUrl, text } = await end(alice);
    expect(text).not.toContain('eyJ'); // scripts get no token
    const away = new URL((await open(alice.cookies, endSessionUrl)).location ?? '');
    expect(away.searchParams.get('id_token_hint')).toMatch(/^eyJ/);
    expect((await open(alice.cookies, `${url}/session/sign-out`)).page).toContain('You are signed out here');
    expect(`${away.origin}${away.pathname}`).toBe(`${scene.provider.issuer}/session/end`);
    expect(away.searchParams.get('post_logout_redirect_uri')).toBe(`${url}/console`);
    await read(alice, '/v1/session').expect(401);
  });

  it('ends when the provider ends its own session', async () => {
    const first = await signInAs(url, 'alice');
    const elsewhere = await signInAs(url, 'alice');
    const second = await signInAs(url, 'alice', { cookies: cookiesAtProvider(first.cookies) });
    const { endSessionUrl } = await end(second);
    await read(first, '/v1/session').expect(200);
    await signOutAt(endSessionUrl, second.cookies);
    await read(first, '/v1/session').expect(401);
    await read(elsewhere, '/v1/session').expect(200);
  });

  it.each(FORGED_LOGOUTS)('ends nothing by the logout token %p', async (body) => {
    const alice = await signInAs(url, 'alice');
    expect(await logOutWith(url, body)).toBe(400);
    await read(alice, '/v1/session').expect(200);
  });

  it('shows instructions while the provider is down', async () => {
    const { cookies, callback } = await approachCallback(url, 'alice');
    await scene.provider.goDown();
    for (const address of [callback, `${url}/session/sign-in`]) {
      const { status, page } = await open(address === callback ? cookies : new Cookies(), address);
      expect(status).toBe(503);
      expect(page).toContain('The OpenID provider is unreachable');
    }
    await scene.provider.goUp();
    await signInAs(url, 'alice');
  });

  it('works after the provider has rotated its keys', async () => {
    await signInAs(url, 'alice');
    await scene.provider.rotateKeys();
    const { cookies, callback } = await approachCallback(url, 'alice');
    await open(cookies, callback); // may still know the old keys
    await signInAs(url, 'alice');
  });
});
