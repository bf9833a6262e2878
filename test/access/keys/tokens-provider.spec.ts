import { exportJWK, generateKeyPair } from 'jose';
import { TokensService } from '../../../src/access/tokens/tokens.service';
import { clock } from '../../../src/platform/database/clock';
import { startProvider, TestProvider } from '../../support/access/provider';
import { createTokenClient } from '../../support/access/token-client';
import { proofOf } from '../../support/access/token-issuer';
import { bearer, payAirtime, readLimits } from '../../support/access/token-scene';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const API = 'https://payouts.example';

/** The tokens of a real provider (oidc-provider), obtained by Authorization Code with PKCE. */
describe('a token of a real provider', () => {
  let upstream: FakeUpstream;
  let provider: TestProvider;
  let proxy: TestProxy;

  beforeAll(async () => {
    provider = await startProvider({ defaultResource: API, accessTokenSeconds: 10_000 });
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, trustedProxies: ['127.0.0.1'] });
    const { issuer, jwksUri } = provider;
    const app = { issuer, jwksUri, audience: API, clientId: 'app', algorithms: ['RS256'] };
    await createTokenClient(proxy.database, 'app', app);
  });
  afterEach(() => passSeconds(0));
  afterAll(async () => {
    await proxy.close();
    await Promise.all([provider.stop(), upstream.stop()]);
  });

  const tokenOf = async (sub: string) => (await provider.token({ sub })).access_token;

  async function codeOf(token: string): Promise<string> {
    const { body } = await readLimits(proxy, bearer(token));
    return String(body.code ?? 'done');
  }

  /** Advances the time of provider keys only. The process clock would change the IDs of later specs, too. */
  function passSeconds(seconds: number): void {
    type Providers = { providers: Map<string, { nowMs: () => number }> };
    const { providers } = proxy.app.get<TokensService, Providers>(TokensService, { strict: false });
    for (const keys of providers.values()) keys.nowMs = () => clock.nowMs() + seconds * 1_000;
  }

  it('pays on behalf of the signed-in person', async () => {
    const token = await tokenOf('alice');
    const { headers } = await payAirtime(proxy, bearer(token)).expect(200);
    const [person] = await proxy.database.query(
      'SELECT p.issuer, p.name FROM intent i JOIN person p ON p.id = i.person_id WHERE i.id = $1',
      [headers['x-call-id']],
    );
    expect(person).toEqual({ issuer: provider.issuer, name: 'alice' });
  });

  it('requires the DPoP proof of its key if bound', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const { access_token: token, token_type: type } = await provider.token({ sub: 'alice', dpop: pair });
    expect([type, await codeOf(token)]).toEqual(['DPoP', 'use_dpop']);
    const key = {
      kid: '',
      alg: 'ES256',
      privateKey: pair.privateKey,
      publicJwk: await exportJWK(pair.publicKey),
    };
    const url = `${proxy.url}/api/v0.1/payouts/airtime`;
    const proof = await proofOf(key, { token, method: 'POST', url });
    await payAirtime(proxy, { Authorization: `DPoP ${token}`, DPoP: proof }).expect(200);
  });

  it('is accepted only if it is an access token for this audience', async () => {
    const scope = 'openid offline_access pay';
    const { id_token: idToken, refresh_token: refresh } = await provider.token({ sub: 'alice', scope });
    const { access_token: elsewhere } = await provider.token({
      sub: 'alice',
      resource: 'https://other.example',
    });
    for (const token of [idToken, refresh, elsewhere]) {
      if (token !== undefined) expect(await codeOf(token)).toBe('invalid_token');
    }
    expect(idToken).toBeDefined();
  });

  it('is verified with new provider keys at once, and rejected with old ones', async () => {
    const old = await tokenOf('bob');
    await provider.rotateKeys();
    const fresh = await tokenOf('bob');
    passSeconds(11); // after the cool-down of queries
    expect([await codeOf(fresh), await codeOf(old)]).toEqual(['done', 'invalid_token']);
  });

  it('is accepted for an hour while the provider is down, then causes provider_unavailable', async () => {
    const tokens = await Promise.all(['carol', 'alice', 'bob'].map(tokenOf));
    const [first = '', second = '', third = ''] = tokens;
    passSeconds(11);
    expect(await codeOf(first)).toBe('done');
    await provider.goDown();
    passSeconds(3_500);
    expect(await codeOf(second)).toBe('done');
    passSeconds(3_700);
    const { status, body, headers } = await readLimits(proxy, bearer(third));
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'provider_unavailable', '5']);
    expect(headers).not.toHaveProperty('www-authenticate');
    await provider.goUp();
    passSeconds(3_720);
    expect(await codeOf(third)).toBe('done');
  });

  it('causes provider_unavailable on an instance that never reached the provider', async () => {
    const token = await tokenOf('alice');
    await provider.goDown();
    const another = await startProxy({ upstreamBaseUrl: upstream.url }, proxy.database);
    const { body } = await payAirtime(another, bearer(token)).expect(503);
    expect(body).toMatchObject({ code: 'provider_unavailable', action: 'retry_same_key' });
    await provider.goUp();
    await another.close();
  });
});
