import { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import { exportJWK } from 'jose';
import { newSigningKey, TokenIssuer } from '../../../test/support/access/token-issuer';
import { Problem } from '../../platform/errors/problem';
import { Egress } from '../../platform/network/egress';
import { ProviderKeys } from './provider-keys';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('ProviderKeys', () => {
  let issuer: TokenIssuer;
  let keys: ProviderKeys;
  let now: number;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    issuer = await TokenIssuer.start();
    now = 0;
    keys = new ProviderKeys(issuer.jwksUri, HOUR, new Egress(), () => now);
  });
  afterEach(() => issuer.stop());

  async function found(kid = issuer.key.kid): Promise<string> {
    try {
      await keys.keysFor({ alg: 'ES256', kid }, 5 * SECOND);
      return 'found';
    } catch (error) {
      return (error as Problem).code;
    }
  }

  const goDown = () => (issuer.answer = (response) => response.destroy());
  const goUp = () => (issuer.answer = undefined);

  it('queries the provider once for concurrent and later requests', async () => {
    expect(await Promise.all([found(), found(), found()])).toEqual(['found', 'found', 'found']);
    now = 4 * MINUTE;
    expect(await found()).toBe('found');
    expect(issuer.requests).toBe(1);
  });

  it('fetches a new key at its first token, and drops the old one', async () => {
    const old = issuer.key.kid;
    await found();
    await issuer.rotate();
    now = MINUTE;
    expect([await found(), await found(old)]).toEqual(['found', 'invalid_token']);
  });

  it('does not flood the provider for tokens with made-up keys', async () => {
    await found();
    now = MINUTE;
    for (let each = 0; each < 50; each += 1) expect(await found(`made-up-${each}`)).toBe('invalid_token');
    expect(issuer.requests).toBe(2);
    now += 11 * SECOND;
    expect(await found('made-up')).toBe('invalid_token');
    expect(issuer.requests).toBe(3);
  });

  it('keeps known keys during an outage of the provider, up to the maximum age', async () => {
    await found();
    goDown();
    now = HOUR;
    expect(await found()).toBe('found');
    now = HOUR + SECOND;
    expect(await found()).toBe('provider_unavailable');
    goUp();
    now += 11 * SECOND;
    expect(await found()).toBe('found');
  });

  it('refetches keys from the future after a clock correction', async () => {
    const old = issuer.key.kid;
    now = HOUR;
    await found();
    await issuer.rotate();
    now = 0;
    expect([await found(), await found(old)]).toEqual(['found', 'invalid_token']);
    goDown();
    now = -HOUR;
    expect(await found()).toBe('provider_unavailable');
  });

  it('reports provider_unavailable for unknown keys during an outage', async () => {
    await found();
    goDown();
    now = MINUTE;
    expect([await found('new'), await found('newer')]).toEqual([
      'provider_unavailable',
      'provider_unavailable',
    ]);
    expect(await found()).toBe('found');
    expect(issuer.requests).toBe(2);
  });

  it('reports provider_unavailable until the provider answers', async () => {
    goDown();
    expect([await found(), await found()]).toEqual(['provider_unavailable', 'provider_unavailable']);
    goUp();
    now = 11 * SECOND;
    expect(await found()).toBe('found');
  });

  it('times out with the request', async () => {
    issuer.answer = () => undefined;
    await expect(keys.keysFor({ alg: 'ES256', kid: 'x' }, 50)).rejects.toMatchObject({
      code: 'provider_unavailable',
    });
  });

  const TWO_LISTS = '{"keys":[{"kty":"RSA","kid":"old","n":"AQAB","e":"AQAB"}],"keys":[]}';
  const TWO_NAMES = '{"keys":[{"kty":"RSA","kid":"new","n":"AQAB","n":"AQAC","e":"AQAB"}]}';
  const ANSWERS: [string, (response: ServerResponse) => unknown][] = [
    ['an error', (response) => response.writeHead(500).end('{"keys":[]}')],
    ['a redirect', (response) => response.writeHead(302, { location: issuer.jwksUri }).end()],
    ['a page', (response) => response.end('<html>sign in to this network</html>')],
    ['no keys', (response) => response.end('{"keys":[]}')],
    ['another shape', (response) => response.end('[]')],
    ['null', (response) => response.end('null')],
    ['two lists of keys', (response) => response.end(TWO_LISTS)],
    ['two members of one name in a key', (response) => response.end(TWO_NAMES)],
    ['too much', (response) => response.end(`{"keys":[],"x":"${'x'.repeat(300_000)}"}`)],
    [
      'an answer that breaks off',
      (response) => response.writeHead(200, { 'content-length': 999 }).write('{"keys"'),
    ],
  ];

  it.each(ANSWERS)('keeps the known keys if the provider answers with %s', async (kind, answer) => {
    await found();
    issuer.answer = (response) => {
      answer(response);
      if (kind.includes('breaks off')) setTimeout(() => response.destroy(), 20);
    };
    now = MINUTE;
    expect([await found('new'), await found()]).toEqual(['provider_unavailable', 'found']);
    expect(issuer.requests).toBe(2); // no redirect was followed
  });

  it('rejects a set with a private or symmetric key', async () => {
    const { publicJwk, kid } = issuer.key;
    const secret = { kty: 'oct', k: 'c2VjcmV0', kid: 'oct', alg: 'HS256' };
    issuer.answer = (response) =>
      response.end(JSON.stringify({ keys: [{ ...publicJwk, kid, alg: 'ES256' }, secret] }));
    expect([await found(), await found('oct')]).toEqual(['found', 'invalid_token']);
    const { privateKey } = await newSigningKey();
    const exported = await exportJWK(privateKey);
    issuer.answer = (response) => response.end(JSON.stringify({ keys: [{ ...exported, kid: 'private' }] }));
    now = MINUTE;
    expect(await found('private')).toBe('provider_unavailable');
  });

  it('returns all keys with one ID, up to a maximum', async () => {
    issuer.keys = await Promise.all(Array.from({ length: 9 }, () => newSigningKey('ES256', 'twin')));
    expect(await keys.keysFor({ alg: 'ES256', kid: 'twin' }, 5 * SECOND)).toHaveLength(4);
    expect(await found(undefined)).toBe('found');
  });
});
