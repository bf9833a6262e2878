import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type GenerateKeyPairResult,
  type JWTPayload,
  SignJWT,
} from 'jose';

/** An OpenID provider that answers each code with the test's ID token. */
export interface LyingProvider {
  issuer: string;
  keys: GenerateKeyPairResult;
  /** Publishes another key with the same `kid` before its own, as during a rotation. */
  publishBefore(key: CryptoKey): Promise<void>;
  /** Requested paths. */
  requested: string[];
  /** Creates the ID token of the next code. */
  idToken: (code: string) => Promise<string> | string;
  /** Signs claims. Unchanged ones are those of a valid token. */
  sign(
    changed: JWTPayload,
    options?: { keys?: GenerateKeyPairResult; typ?: string | undefined },
  ): Promise<string>;
  /** Ends waiting connections. */
  hangUp(): void;
  close(): Promise<void>;
}

export async function startLyingProvider(clientId: string): Promise<LyingProvider> {
  const keys = await generateKeyPair('RS256');
  const published: object[] = [];
  const publishBefore = async (key: CryptoKey) =>
    void published.unshift({ ...(await exportJWK(key)), kid: 'one', alg: 'RS256', use: 'sig' });
  await publishBefore(keys.publicKey);
  const server = createServer((request, response) => {
    const answer = (body: object) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    const path = new URL(request.url ?? '', provider.issuer).pathname;
    provider.requested.push(path);
    if (path === '/jwks') return answer({ keys: published });
    if (path !== '/token') return answer(describe(provider.issuer));
    void text(request)
      .then((body) => provider.idToken(new URLSearchParams(body).get('code') ?? ''))
      .then((token) => answer({ access_token: 'of-no-use', token_type: 'Bearer', id_token: token }));
    return undefined;
  });
  const provider: LyingProvider = {
    issuer: '',
    keys,
    publishBefore,
    requested: [],
    idToken: () => '',
    sign: (changed, { keys: signing = keys, typ } = {}) =>
      new SignJWT({ iss: provider.issuer, sub: 'alice', aud: clientId, jti: randomUUID(), ...changed })
        .setProtectedHeader({ alg: 'RS256', kid: 'one', ...(typ !== undefined && { typ }) })
        .setIssuedAt(changed.iat)
        .setExpirationTime(changed.exp ?? '5m')
        .sign(signing.privateKey),
    hangUp: () => server.closeAllConnections(),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}

const describe = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  authorization_response_iss_parameter_supported: true,
  id_token_signing_alg_values_supported: ['RS256'],
});
