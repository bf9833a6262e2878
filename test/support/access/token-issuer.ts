import { hash, randomUUID, webcrypto } from 'node:crypto';
import { createServer, IncomingMessage, Server, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, CryptoKey, exportJWK, generateKeyPair, JWK } from 'jose';

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export async function newSigningKey(alg = 'ES256', kid: string = randomUUID()): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: await exportJWK(publicKey) };
}

export const encoded = (part: object | string) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

const SIGNING: Record<string, webcrypto.EcdsaParams | webcrypto.Algorithm> = {
  ES256: { name: 'ECDSA', hash: 'SHA-256' },
  ES384: { name: 'ECDSA', hash: 'SHA-384' },
  RS256: { name: 'RSASSA-PKCS1-v1_5' },
  Ed25519: { name: 'Ed25519' },
};

/** Signs any header and payload, including invalid ones. */
export async function signed(
  header: object | string,
  payload: object | string,
  key: SigningKey,
): Promise<string> {
  const input = `${encoded(header)}.${encoded(payload)}`;
  const signature = await webcrypto.subtle.sign(SIGNING[key.alg]!, key.privateKey, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

/** Claims of an access token for alice. */
export interface Claims {
  [name: string]: unknown;
}

/** A provider that publishes its keys over HTTP and signs anything. */
export class TokenIssuer {
  private constructor(
    private readonly server: Server,
    public keys: SigningKey[],
  ) {}

  readonly issuer: string = 'https://id.example';
  readonly audience: string = 'https://payouts.example';
  readonly clientId: string = 'wallet-app';
  /** Number of reads of the keys. */
  requests = 0;
  /** Replaces the answer with the keys. */
  answer: ((response: ServerResponse, request: IncomingMessage) => void) | undefined;

  static async start(alg = 'ES256'): Promise<TokenIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = new TokenIssuer(server, [await newSigningKey(alg)]);
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      issuer.respond(request, response),
    );
    return issuer;
  }

  get jwksUri(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/jwks`;
  }

  get key(): SigningKey {
    return this.keys[0]!;
  }

  /** Returns the claims of a token for alice, valid for five minutes. */
  claims(change: Claims = {}): Claims {
    const now = Math.floor(Date.now() / 1_000);
    return {
      iss: this.issuer,
      aud: this.audience,
      client_id: this.clientId,
      sub: 'alice',
      scope: 'pay write read',
      jti: randomUUID(),
      iat: now,
      exp: now + 300,
      ...change,
    };
  }

  header(change: Claims = {}, { alg, kid } = this.key): Claims {
    return { typ: 'at+jwt', alg, kid, ...change };
  }

  /** Returns an access token for alice. Undefined claims are omitted. */
  token(claims: Claims = {}, header: Claims = {}, key = this.key): Promise<string> {
    return signed(this.header(header, key), this.claims(claims), key);
  }

  /** Returns a token bound to a key. */
  async boundToken(key: SigningKey, claims: Claims = {}): Promise<string> {
    return this.token({ ...claims, cnf: { jkt: await calculateJwkThumbprint(key.publicJwk) } });
  }

  /** Replaces all keys. */
  async rotate(): Promise<void> {
    this.keys = [await newSigningKey(this.key.alg)];
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private respond(request: IncomingMessage, response: ServerResponse): void {
    this.requests += 1;
    if (this.answer) return this.answer(response, request);
    response.setHeader('content-type', 'application/jwk-set+json');
    response.end(
      JSON.stringify({
        keys: this.keys.map(({ publicJwk, kid, alg }) => ({ ...publicJwk, kid, alg, use: 'sig' })),
      }),
    );
  }
}

/** Creates a proof of possession (RFC 9449). */
export async function proofOf(
  key: SigningKey,
  { token, method, url }: { token: string; method: string; url: string },
  claims: Claims = {},
  header: Claims = {},
): Promise<string> {
  const payload = {
    jti: randomUUID(),
    htm: method,
    htu: url,
    iat: Math.floor(Date.now() / 1_000),
    ath: hash('sha256', token, 'base64url'),
    ...claims,
  };
  return signed({ typ: 'dpop+jwt', alg: key.alg, jwk: key.publicJwk, ...header }, payload, key);
}
