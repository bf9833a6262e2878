import {
  createRemoteJWKSet,
  decodeProtectedHeader,
  generateKeyPair,
  calculateJwkThumbprint,
  exportJWK,
  jwtVerify,
} from 'jose';
import {
  confidentialClient,
  PASSWORD_ACR,
  publicClient,
  SECOND_FACTOR_ACR,
  startProvider,
  TestProvider,
} from '../../support/access/provider';

const PROXY = 'https://payouts.example';

describe('the test provider', () => {
  let provider: TestProvider;

  beforeAll(async () => {
    provider = await startProvider({
      clients: [publicClient('app'), confidentialClient('console', 'a secret of the console')],
      defaultResource: PROXY,
    });
  });
  afterAll(() => provider.stop());

  const verified = (token: string) =>
    jwtVerify(token, createRemoteJWKSet(new URL(provider.jwksUri)), { issuer: provider.issuer });

  it('publishes its metadata', async () => {
    const answer = await fetch(`${provider.issuer}/.well-known/openid-configuration`);
    const metadata = (await answer.json()) as Record<string, unknown>;
    expect(metadata).toMatchObject({
      issuer: provider.issuer,
      jwks_uri: provider.jwksUri,
      authorization_response_iss_parameter_supported: true,
      backchannel_logout_supported: true,
      end_session_endpoint: expect.any(String),
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
    });
  });

  it('issues access tokens as in RFC 9068', async () => {
    const { access_token: token, refresh_token: refresh } = await provider.token({ sub: 'alice' });
    expect(decodeProtectedHeader(token)).toMatchObject({ typ: 'at+jwt', alg: 'RS256' });
    const { payload } = await verified(token);
    expect(payload).toMatchObject({
      sub: 'alice',
      aud: PROXY,
      client_id: 'app',
      scope: 'pay write read',
      acr: PASSWORD_ACR,
      auth_time: expect.any(Number),
      jti: expect.any(String),
    });
    expect(refresh).toEqual(expect.any(String));
  });

  it('grants at most the requested scope', async () => {
    const { payload } = await verified(
      (await provider.token({ sub: 'bob', scope: 'openid read' })).access_token,
    );
    expect(payload.scope).toBe('read');
  });

  it('states the authentication method', async () => {
    const tokens = await provider.token({ sub: 'carol', clientId: 'console', secondFactor: true });
    const { payload } = await verified(tokens.id_token ?? '');
    expect(payload).toMatchObject({ sub: 'carol', aud: 'console', acr: SECOND_FACTOR_ACR });
  });

  it('binds tokens to a key', async () => {
    const dpop = await generateKeyPair('ES256', { extractable: true });
    const { access_token: token, token_type: type } = await provider.token({ sub: 'alice', dpop });
    expect(type).toBe('DPoP');
    const { payload } = await verified(token);
    expect(payload.cnf).toEqual({ jkt: await calculateJwkThumbprint(await exportJWK(dpop.publicKey)) });
  });

  it('rotates its keys, stops and restarts', async () => {
    const { access_token: old } = await provider.token({ sub: 'alice' });
    await provider.rotateKeys();
    await expect(verified(old)).rejects.toThrow('no applicable key');
    await verified((await provider.token({ sub: 'alice' })).access_token);
    await provider.goDown();
    await expect(fetch(provider.jwksUri)).rejects.toThrow('fetch failed');
    await provider.goUp();
    const before = await provider.requests('/jwks');
    await (await fetch(provider.jwksUri)).text();
    expect(await provider.requests('/jwks')).toBe(before + 1);
  });
});
