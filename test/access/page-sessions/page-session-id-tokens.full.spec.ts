import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { LyingProvider, startLyingProvider } from '../../support/access/lying-provider';
import { Cookies } from '../../support/access/provider/flow';
import { signInWithIdToken } from '../../support/access/sign-in-attacks';
import { open } from '../../support/access/signing-in';
import { encoded } from '../../support/access/token-issuer';
import { createPageClient, PAGE } from '../../support/console/page-scene';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** The provider of these tests may lie in every claim. */
describe('an ID token of a page', () => {
  let provider: LyingProvider;
  let proxy: TestProxy;

  beforeAll(async () => {
    provider = await startLyingProvider('wallet-pages');
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9', trustedProxies: ['127.0.0.1'] });
    const registering = { issuer: provider.issuer, addClient: () => Promise.resolve() };
    await createPageClient(proxy, registering, 'wallet');
    await createPageClient(proxy, registering, 'shop');
  });
  afterAll(async () => {
    await proxy.close();
    await provider.close();
  });

  async function signInWith(claims: (nonce: string) => JWTPayload, client = 'wallet'): Promise<number> {
    const pages = `${proxy.url}/session/pages/${client}`;
    const urls = { from: `${pages}/sign-in?return_to=${PAGE}`, redirectUri: `${pages}/callback` };
    const never = new Promise<string>(() => undefined);
    const { status, cookies } = await signInWithIdToken(provider, urls, (nonce, code) =>
      code === 'hang' ? never : provider.sign(claims(nonce)),
    );
    expect(cookies.values.has(`payout_proxy_page_${client}`)).toBe(status === 303);
    return status;
  }

  it('signs in if all claims are valid', async () => {
    expect(await signInWith((nonce) => ({ nonce }))).toBe(303);
  });

  it.each<[string, (nonce: string) => JWTPayload]>([
    ['without a nonce', () => ({})],
    ['with the nonce of another sign-in', () => ({ nonce: 'another' })],
    ['of another issuer', (nonce) => ({ nonce, iss: 'https://evil.example' })],
    ['for another client', (nonce) => ({ nonce, aud: 'console' })],
    ['that has expired', (nonce) => ({ nonce, exp: 1_000_000_000 })],
    ['of a subject that cannot be stored', (nonce) => ({ nonce, sub: 'a\u0000b' })],
    ['of an endless subject', (nonce) => ({ nonce, sub: 'a'.repeat(501) })],
  ])('%s is refused', async (_defect, claims) => {
    expect(await signInWith(claims)).toBe(400);
  });

  // The issuer identifies the limits and revocations of persons, and logout tokens.
  it.each(['/', '/.well-known/openid-configuration'])(
    'is refused if its issuer is configured differently, such as with %s',
    async (end) => {
      const setIssuer = (issuer: string) =>
        proxy.database.query('UPDATE client SET page_issuer = $1', [issuer]);
      await setIssuer(`${provider.issuer}${end}`);
      const begun = `${proxy.url}/session/pages/wallet/sign-in?return_to=${PAGE}`;
      const { status, page } = await open(new Cookies(), begun);
      expect([status, page]).toEqual([503, expect.stringContaining('issuer differs from OIDC_ISSUER')]);
      await setIssuer(provider.issuer);
      expect(await signInWith((nonce) => ({ nonce }))).toBe(303);
    },
  );

  it('causes few provider requests in a flood of forged callbacks and logout tokens', async () => {
    expect(await signInWith((nonce) => ({ nonce }))).toBe(303);
    provider.requested.length = 0;
    const { privateKey } = await generateKeyPair('RS256');
    const forge = (kid: string) =>
      new SignJWT({ sub: 'alice', events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })
        .setProtectedHeader({ alg: 'RS256', kid })
        .setIssuer(provider.issuer)
        .setAudience('wallet-pages')
        .setIssuedAt()
        .sign(privateKey);
    const post = async (kid: string) => {
      const body = new URLSearchParams({ logout_token: await forge(kid) });
      return (await fetch(`${proxy.url}/session/backchannel-logout`, { method: 'POST', body })).status;
    };
    const transaction = { secret: 's'.repeat(43), returnTo: PAGE, isStepUp: false };
    const cookie = `payout_proxy_sign_in_wallet=${encoded(transaction)}`;
    const callBack = async (n: number) => {
      const headers = { cookie, 'x-forwarded-for': `198.51.100.${n}` };
      return (await fetch(`${proxy.url}/session/pages/wallet/callback?code=x&state=${n}`, { headers }))
        .status;
    };
    const flood = Array.from({ length: 60 }, (_, n) =>
      n % 2 ? post(n % 3 ? 'one' : `kid-${n}`) : callBack(n),
    );
    const signIn = open(new Cookies(), `${proxy.url}/session/pages/wallet/sign-in?return_to=${PAGE}`);
    expect((await signIn).status).toBe(302);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([400]));
    expect(provider.requested.length).toBeLessThan(5);
  });

  it('ends its sessions at all clients named by a logout token, despite concurrent forgeries', async () => {
    await signInWith((nonce) => ({ nonce }));
    await signInWith((nonce) => ({ nonce, aud: 'shop-pages' }), 'shop');
    const sessions = async () =>
      (await proxy.database.query('SELECT count(DISTINCT key_id)::int AS clients FROM page_session'))[0]
        ?.clients;
    expect(await sessions()).toBe(2);
    const post = async (token: string) => {
      const body = new URLSearchParams({ logout_token: token });
      return (await fetch(`${proxy.url}/session/backchannel-logout`, { method: 'POST', body })).status;
    };
    const unsigned = (changed: object) => {
      const claims = { iss: provider.issuer, aud: 'wallet-pages', ...changed };
      return `${encoded({ alg: 'RS256' })}.${encoded(claims)}.AAAA`;
    };
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const now = Math.floor(Date.now() / 1_000);
    expect(await post(await provider.sign({ events }, { typ: 'at+jwt' }))).toBe(400);
    expect(await post(await provider.sign({ events, azp: 'another' }))).toBe(400);
    expect(await post(await provider.sign({ events, iat: now + 60 }))).toBe(400);
    expect(await sessions()).toBe(2);
    const odd = [
      { iss: 'a\u0000' },
      { iss: 7 },
      { aud: ['wallet-pages', 'b\u0000'] },
      { aud: Array(999).fill('a') },
    ];
    const token = await provider.sign({
      aud: ['other', 'wallet-pages', 'shop-pages'],
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    const refused = odd.map((claims) => post(unsigned(claims)));
    expect(await post(token)).toBe(200);
    expect(await Promise.all(refused)).toEqual(odd.map(() => 400));
    expect(await sessions()).toBe(0);
  });

  it('is accepted while an attacker keeps many other sign-ins pending', async () => {
    provider.idToken = () => new Promise<string>(() => undefined);
    provider.requested.length = 0;
    const flood = Array.from({ length: 40 }, async () => {
      const cookies = new Cookies();
      const { location } = await open(cookies, `${proxy.url}/session/pages/wallet/sign-in?return_to=${PAGE}`);
      const state = new URL(location ?? '').searchParams.get('state') ?? '';
      const parameters = new URLSearchParams({ code: 'hang', state, iss: provider.issuer });
      return fetch(`${proxy.url}/session/pages/wallet/callback?${parameters.toString()}`, {
        headers: { cookie: cookies.header, 'x-forwarded-for': '203.0.113.7' },
      });
    });
    const statuses = flood.map((answer) => answer.then(({ status }) => status).catch(() => 0));
    const tokenRequests = () => provider.requested.filter((path) => path === '/token').length;
    await eventually(() => tokenRequests() >= 8);
    expect(await signInWith((nonce) => ({ nonce }))).toBe(303);
    expect(tokenRequests()).toBe(9);
    provider.hangUp();
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([503]));
  });
});
