import { generateKeyPair, type JWTPayload, UnsecuredJWT } from 'jose';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { LyingProvider, startLyingProvider } from '../../support/access/lying-provider';
import { Cookies } from '../../support/access/provider/flow';
import {
  AttackedSignIn,
  expectNoLoginBy,
  expectNoLoginElsewhere,
  expectNoSecondLogin,
  FORGED_CALLBACKS,
  signInWithIdToken,
} from '../../support/access/sign-in-attacks';
import {
  approachCallback,
  atProvider,
  changed,
  open,
  SignInScene,
  signInAs,
  startSignInScene,
} from '../../support/access/signing-in';
import supertest from '../../support/http/supertest';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const COOKIE = 'payout_proxy';
const TRANSACTION = 'payout_proxy_sign_in';

describe('an attacker of the console sign-in', () => {
  let scene: SignInScene;
  let url: string;

  beforeAll(async () => {
    scene = await startSignInScene({ trustedProxies: ['127.0.0.1'] });
    url = scene.proxy.url;
    await scene.allow('alice', 'ops', 'admin', 'audit');
    await scene.allow('bob', 'others', 'audit');
  });
  afterAll(() => scene.close());

  const signIn: AttackedSignIn = {
    approach: (sub) => approachCallback(url, sub),
    names: { session: COOKIE, transaction: TRANSACTION },
    done: 200,
    sessions: async () => (await scene.proxy.database.query('SELECT FROM console_session')).length,
  };

  it('cannot finish a sign-in in the browser of a victim (login CSRF)', () => expectNoLoginElsewhere(signIn));

  it.each(FORGED_CALLBACKS)('cannot use a callback %s', (_case, parameters) =>
    expectNoLoginBy(parameters, signIn),
  );

  it('cannot replay a callback', () => expectNoSecondLogin(signIn));

  it('cannot inject the code of another sign-in', async () => {
    const attacker = await approachCallback(url, 'bob');
    const victim = await approachCallback(url, 'alice');
    const code = new URL(attacker.callback).searchParams.get('code') ?? '';
    const { status, page } = await open(victim.cookies, changed(victim.callback, { code }));
    expect(status).toBe(403);
    expect(page).toContain('<dd>invalid_grant</dd>');
  });

  it('cannot redirect away from the console after the sign-in', async () => {
    const { cookies, callback } = await approachCallback(url, 'alice');
    const begun = Buffer.from(cookies.values.get(TRANSACTION) ?? '', 'base64url').toString();
    const forged = JSON.stringify({ ...(JSON.parse(begun) as object), returnTo: 'https://evil.example/' });
    cookies.values.set(TRANSACTION, Buffer.from(forged).toString('base64url'));
    const { status, page } = await open(cookies, callback);
    expect([status, page]).toEqual([200, expect.stringContaining('content="0;url=/console"')]);
  });

  it('cannot inject text into the sign-in page', async () => {
    const { cookies, callback } = await approachCallback(url, 'alice');
    const evil = '<script>alert(1)</script>call +254700000000';
    const parameters = { code: undefined, error: evil, error_description: evil };
    const { page, status } = await open(cookies, changed(callback, parameters));
    expect(status).toBe(403);
    expect(page).not.toContain('alert');
    expect(page).not.toContain('254700000000');
  });

  it('cannot fix a session that the victim then signs in to', async () => {
    const planted = await signInAs(url, 'bob');
    const victim = new Cookies();
    victim.values.set(COOKIE, planted.cookies.values.get(COOKIE) ?? '');
    const alice = await signInAs(url, 'alice', { cookies: victim });
    expect(alice.cookies.values.get(COOKIE)).not.toBe(planted.cookies.values.get(COOKIE));
    await supertest(url).get('/v1/session').set('Cookie', planted.cookies.header).expect(401); // replaced
  });

  it('cannot plant cookies from a sibling host', async () => {
    const https = { 'X-Forwarded-Proto': 'https' };
    const alice = await signInAs(url, 'alice');
    await supertest(url)
      .get('/v1/session')
      .set({ ...https, Cookie: alice.cookies.header })
      .expect(401); // without the prefix, any host of the domain could have set it
    const { cookies, callback } = await approachCallback(url, 'alice');
    const answer = await fetch(callback, { headers: { ...https, cookie: cookies.header } });
    expect(answer.status).toBe(400);
    const begun = await fetch(`${url}/session/sign-in`, { headers: https, redirect: 'manual' });
    expect(begun.headers.get('set-cookie')).toMatch(
      /^__Host-payout_proxy_sign_in=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  });

  it('cannot make the browser act from another page', async () => {
    const { cookies, csrfToken } = await signInAs(url, 'alice');
    const act = (headers: Record<string, string>) =>
      supertest(url)
        .post('/v1/clients')
        .set({ Cookie: cookies.header, ...headers })
        .send({ name: 'forged', scopes: ['read'] });
    await act({}).expect(403);
    for (const site of ['cross-site', 'same-site'])
      await act({ 'X-CSRF-Token': csrfToken, 'Sec-Fetch-Site': site }).expect(403);
    await supertest(url)
      .post('/api/v0.1/payouts/airtime')
      .set({ Cookie: cookies.header, 'X-CSRF-Token': csrfToken })
      .send({ airtimes: [] })
      .expect(401); // the interface takes no cookies
  });

  it('cannot redirect away from the provider with a planted sign-out cookie', async () => {
    for (const planted of ['https://evil.example/', JSON.stringify({ returnTo: 'https://evil.example/' })]) {
      const cookies = new Cookies();
      cookies.values.set('payout_proxy_sign_out', Buffer.from(planted).toString('base64url'));
      const { location } = await open(cookies, `${url}/session/sign-out`);
      expect(location ?? '').not.toContain('evil.example');
    }
  });

  it('cannot read the referrer, or frame the pages', async () => {
    const { cookies, callback } = await approachCallback(url, 'alice');
    const answer = await fetch(callback, { headers: { cookie: cookies.header } });
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});

/** The provider of these tests may lie in every claim. */
describe('an ID token', () => {
  let provider: LyingProvider;
  let proxy: TestProxy;

  beforeAll(async () => {
    provider = await startLyingProvider('console');
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9', ...atProvider(provider.issuer) });
    const clients = proxy.app.get(ClientsService, { strict: false });
    await clients.create('ops', ['admin']);
    await clients.allowSignIn('ops', { issuer: provider.issuer, subject: 'alice', person: 'alice' });
  });
  afterAll(async () => {
    await proxy.close();
    await provider.close();
  });

  async function signInWith(create: (nonce: string) => Promise<string> | string): Promise<number> {
    const urls = { from: `${proxy.url}/session/sign-in`, redirectUri: `${proxy.url}/session/callback` };
    const { status, cookies } = await signInWithIdToken(provider, urls, create);
    expect(cookies.values.has(COOKIE)).toBe(status === 200);
    return status;
  }

  it('signs in if all claims are valid', async () => {
    expect(await signInWith((nonce) => provider.sign({ nonce }))).toBe(200);
  });

  it.each<[string, (nonce: string) => JWTPayload]>([
    ['without a nonce', () => ({})],
    ['with the nonce of another sign-in', () => ({ nonce: 'another' })],
    ['of another issuer', (nonce) => ({ nonce, iss: 'https://evil.example' })],
    ['for another client', (nonce) => ({ nonce, aud: 'another' })],
    ['for several clients', (nonce) => ({ nonce, aud: ['console', 'another'] })],
    ['that has expired', (nonce) => ({ nonce, exp: 1_000_000_000 })],
    ['of another authorized party (azp)', (nonce) => ({ nonce, azp: 'another' })],
    [
      'from the future',
      (nonce) => ({ nonce, iat: Math.floor(Date.now() / 1_000) + 3_600, exp: 4_000_000_000 }),
    ],
    ['without a subject', (nonce) => ({ nonce, sub: undefined as unknown as string })],
  ])('%s is refused', async (_defect, claims) => {
    expect(await signInWith((nonce) => provider.sign(claims(nonce)))).toBe(400);
  });

  it('counts as issued now if its clock is ahead', async () => {
    const ahead = Math.floor(Date.now() / 1_000) + 86_400;
    expect(await signInWith((nonce) => provider.sign({ nonce, auth_time: ahead }))).toBe(200);
    const [session] = await proxy.database.query(
      'SELECT bool_and(signed_in_at <= now()) AS past FROM console_session WHERE signed_in_at IS NOT NULL',
    );
    expect(session).toEqual({ past: true });
  });

  it('signed with another key is refused', async () => {
    const keys = await generateKeyPair('RS256');
    expect(await signInWith((nonce) => provider.sign({ nonce }, { keys }))).toBe(400);
  });

  it('signed with a second key of the same ID signs in, and with an unknown key does not', async () => {
    const [other, third] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
    await provider.publishBefore(other.publicKey);
    expect(await signInWith((nonce) => provider.sign({ nonce }))).toBe(200);
    expect(await signInWith((nonce) => provider.sign({ nonce }, { keys: other }))).toBe(200);
    expect(await signInWith((nonce) => provider.sign({ nonce }, { keys: third }))).toBe(400);
  });

  it('without a signature is refused', async () => {
    const unsecured = (nonce: string) =>
      new UnsecuredJWT({ nonce, iss: provider.issuer, sub: 'alice', aud: 'console' })
        .setIssuedAt()
        .setExpirationTime('5m')
        .encode();
    expect(await signInWith(unsecured)).toBe(400);
  });
});
