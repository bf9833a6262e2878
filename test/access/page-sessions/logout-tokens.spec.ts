import { generateKeyPair, type JWTPayload } from 'jose';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { ProviderKeys } from '../../../src/access/tokens/provider-keys';
import { verifyLogoutToken } from '../../../src/credentials/openid/provider-tokens';
import { Egress } from '../../../src/platform/network/egress';
import { LyingProvider, startLyingProvider } from '../../support/access/lying-provider';
import { logOutWith, signInWithIdToken } from '../../support/access/sign-in-attacks';
import { atProvider } from '../../support/access/signing-in';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };

const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600;

/** See OpenID Connect Back-Channel Logout 1.0, section 2.6. The provider signs all tokens. */
describe('a logout token', () => {
  let provider: LyingProvider;
  let proxy: TestProxy;

  beforeAll(async () => {
    provider = await startLyingProvider('console');
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9', ...atProvider(provider.issuer) });
    const clients = proxy.app.get(ClientsService, { strict: false });
    await clients.create('ops', ['admin']);
    await clients.allowSignIn('ops', { issuer: provider.issuer, subject: 'alice', person: 'alice' });
  });
  beforeEach(() => proxy.database.query('DELETE FROM console_session'));
  afterAll(async () => {
    await proxy.close();
    await provider.close();
  });

  async function signIn(): Promise<void> {
    const urls = { from: `${proxy.url}/session/sign-in`, redirectUri: `${proxy.url}/session/callback` };
    const { status } = await signInWithIdToken(provider, urls, (nonce) => provider.sign({ nonce }));
    expect(status).toBe(200);
  }
  const sessions = async () => (await proxy.database.query('SELECT FROM console_session')).length;
  const logOut = async (token: string) => logOutWith(proxy.url, `logout_token=${token}`);

  it.each<[string, string | undefined, JWTPayload]>([
    ['of the access token type', 'at+jwt', {}],
    ['of the proof type', 'dpop+jwt', {}],
    ['of another authorized party', undefined, { aud: ['console', 'another'], azp: 'another' }],
    ['from the future', undefined, { iat: inAnHour(), exp: 4_000_000_000 }],
    ['from long ago', undefined, { iat: inAnHour() - 7_200 }],
    ['with the nonce of an ID token', undefined, { nonce: 'nonce' }],
    ['of another event', undefined, { events: { 'https://id.example/login': {} } }],
    ['without a subject', undefined, { sub: undefined as unknown as string }],
  ])('%s ends no session', async (_case, typ, claims) => {
    await signIn();
    const token = await provider.sign({ events: EVENTS, ...claims }, { typ });
    expect([await logOut(token), await sessions()]).toEqual([400, 1]);
  });

  it.each(['logout+jwt', 'application/logout+jwt', 'JWT', undefined])(
    'of the type %s ends sessions',
    async (typ) => {
      await signIn();
      const token = await provider.sign({ events: EVENTS, azp: 'console' }, { typ });
      expect([await logOut(token), await sessions()]).toEqual([200, 0]);
    },
  );

  it('signed with a second key of the same ID ends sessions, and with an unknown key does not', async () => {
    const [other, third] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
    const two = await startLyingProvider('console');
    await two.publishBefore(other.publicKey);
    const keysOf = () => new ProviderKeys(`${two.issuer}/jwks`, 60_000, proxy.app.get(Egress));
    const known = keysOf();
    const verify = (token: string, keys = known) =>
      verifyLogoutToken(token, keys, { issuer: two.issuer, audience: 'console' });
    for (const signing of [two.keys, other]) {
      const token = await two.sign({ events: EVENTS }, { keys: signing });
      expect(await verify(token)).toMatchObject({ subject: 'alice' });
    }
    const forged = await two.sign({ events: EVENTS }, { keys: third });
    await expect(verify(forged)).rejects.toMatchObject({ kind: 'invalid' });
    await two.close();
    await expect(verify(forged, keysOf())).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('ends sessions once, and is rejected when replayed', async () => {
    const first = await provider.sign({ events: EVENTS });
    await signIn();
    expect([await logOut(first), await sessions()]).toEqual([200, 0]);
    await signIn();
    expect([await logOut(first), await sessions()]).toEqual([400, 1]);
    expect(await logOut(await provider.sign({ events: EVENTS, jti: undefined as unknown as string }))).toBe(
      400,
    );
    const second = await provider.sign({ events: EVENTS });
    const atOnce = await Promise.all(Array.from({ length: 5 }, () => logOut(second)));
    expect([atOnce.toSorted(), await sessions()]).toEqual([[200, 400, 400, 400, 400], 0]);
  });
});
