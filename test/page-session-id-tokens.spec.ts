import { type JWTPayload } from 'jose';
import { LyingProvider, startLyingProvider } from './support/lying-provider';
import { createPageClient, PAGE } from './support/page-scene';
import { startProxy, TestProxy } from './support/proxy';
import { signInWithIdToken } from './support/sign-in-attacks';

const COOKIE = 'payout_proxy_page_wallet';

/** Even a provider that is not who it says it is signs nobody in. */
describe('an ID token of a page', () => {
  let provider: LyingProvider;
  let proxy: TestProxy;

  beforeAll(async () => {
    provider = await startLyingProvider('wallet-pages');
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9' });
    const registering = { issuer: provider.issuer, addClient: () => Promise.resolve() };
    await createPageClient(proxy, registering, 'wallet');
  });
  afterAll(async () => {
    await proxy.close();
    await provider.close();
  });

  async function signInWith(claims: (nonce: string) => JWTPayload): Promise<number> {
    const pages = `${proxy.url}/session/pages/wallet`;
    const places = { from: `${pages}/sign-in?return_to=${PAGE}`, redirectUri: `${pages}/callback` };
    const { status, cookies } = await signInWithIdToken(provider, places, (nonce) => provider.sign(claims(nonce)));
    expect(cookies.values.has(COOKIE)).toBe(status === 303);
    return status;
  }

  it('signs in if everything is right', async () => {
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
  ])('%s signs nobody in', async (_what, claims) => {
    expect(await signInWith(claims)).toBe(400);
  });
});
