import { calculateJwkThumbprint, exportJWK } from 'jose';
import {
  encoded,
  newSigningKey,
  proofOf,
  signed,
  SigningKey,
} from '../../../test/support/access/token-issuer';
import { Problem } from '../../platform/errors/problem';
import { checkProof, ProvenRequest } from './dpop-proof';

const URL_ = 'https://payouts.example/api/v0.1/payouts/airtime';

describe('checkProof', () => {
  let key: SigningKey;
  let request: ProvenRequest;

  beforeAll(async () => {
    key = await newSigningKey();
    request = {
      method: 'POST',
      url: URL_,
      token: 'the-token',
      jkt: await calculateJwkThumbprint(key.publicJwk),
    };
  });

  async function verdict(proof: string, of = request): Promise<string> {
    return checkProof(proof, of).then(
      () => 'accepted',
      (problem: Problem) => problem.code,
    );
  }

  it('accepts a proof of the key, the token and the request', async () => {
    expect(await verdict(await proofOf(key, request))).toBe('accepted');
    expect(await verdict(await proofOf(key, request), { ...request, url: `${URL_}?page_size=1#x` })).toBe(
      'accepted',
    );
    expect(
      await verdict(
        await proofOf(key, request, { htu: `HTTPS://PAYOUTS.example:443/api/v0.1/payouts/airtime` }),
      ),
    ).toBe('accepted');
    expect(await verdict(await proofOf(key, request, { nonce: 'not needed' }))).toBe('accepted');
  });

  it.each(['RS256', 'ES384', 'Ed25519'])('accepts keys for %s', async (alg) => {
    const other = await newSigningKey(alg);
    const of = { ...request, jkt: await calculateJwkThumbprint(other.publicJwk) };
    expect(await verdict(await proofOf(other, of), of)).toBe('accepted');
  });

  it('identifies proofs by key and ID until they expire', async () => {
    const iat = Math.floor(Date.now() / 1_000);
    const [first, again, second] = await Promise.all(
      ['a', 'a', 'b'].map(async (jti) => checkProof(await proofOf(key, request, { jti, iat }), request)),
    );
    expect(first).toEqual(again);
    expect(first?.sha256).not.toEqual(second?.sha256);
    expect(first?.countsUntil).toBe(iat + 300);
  });

  it('refuses a proof of another request', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const claims: Record<string, unknown>[] = [
      { htm: 'GET' },
      { htm: 'post' },
      { htm: undefined },
      { htu: 'https://evil.example/api/v0.1/payouts/airtime' },
      { htu: 'http://payouts.example/api/v0.1/payouts/airtime' },
      { htu: 'https://payouts.example/api/v0.1/payouts' },
      { htu: 'https://payouts.example:444/api/v0.1/payouts/airtime' },
      { htu: '/api/v0.1/payouts/airtime' },
      { htu: undefined },
      { htu: [URL_] },
      { ath: 'x' },
      { ath: undefined },
      { jti: undefined },
      { jti: '' },
      { jti: 7 },
      { iat: now - 400 },
      { iat: now + 400 },
      { iat: String(now) },
      { iat: undefined },
    ];
    const verdicts = await Promise.all(
      claims.map(async (each) => [each, await verdict(await proofOf(key, request, each))]),
    );
    expect(verdicts.filter(([, code]) => code !== 'invalid_dpop_proof')).toEqual([]);
  });

  it('refuses a forged proof', async () => {
    const other = await newSigningKey();
    const { d, ...rest } = await exportJWK(key.privateKey);
    const proof = await proofOf(key, request);
    const [header = '', payload = ''] = proof.split('.');
    const jwk = key.publicJwk;
    const forged = [
      await proofOf(other, request),
      await proofOf(key, request, {}, { jwk: { ...rest, d } }),
      await proofOf(other, request, {}, { jwk }),
      await proofOf(key, request, {}, { typ: 'JWT' }),
      await proofOf(key, request, {}, { typ: undefined }),
      await proofOf(key, request, {}, { alg: 'none' }),
      await proofOf(key, request, {}, { alg: 'HS256', jwk: { kty: 'oct', k: 'c2VjcmV0' } }),
      await proofOf(key, request, {}, { jwk: undefined }),
      await proofOf(key, request, {}, { jwk: { kty: 'EC', crv: 'P-256' } }),
      await proofOf(key, request, {}, { crit: ['exp'] }),
      await signed({ typ: 'dpop+jwt', alg: 'ES256', jwk }, '{"htm":"POST","htm":"GET"}', key),
      `${header}.${payload}.`,
      `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
      `${header}.${encoded({ htm: 'POST' })}.${proof.split('.')[2]}`,
      `${proof}, ${proof}`,
      'x'.repeat(9_000),
      '',
    ];
    expect(await Promise.all(forged.map((each) => verdict(each)))).toEqual(
      forged.map(() => 'invalid_dpop_proof'),
    );
  });
});
