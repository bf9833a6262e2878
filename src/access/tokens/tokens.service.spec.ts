import { hash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { forgedTokens } from '../../../test/support/access/forged-tokens';
import { newSigningKey, TokenIssuer } from '../../../test/support/access/token-issuer';
import { RunningConfig } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { Problem } from '../../platform/errors/problem';
import { Egress } from '../../platform/network/egress';
import { parseToken, TokenSource } from './access-token';
import { TokensService } from './tokens.service';

let issuer: TokenIssuer;
beforeAll(async () => (issuer = await TokenIssuer.start()));
afterAll(() => issuer.stop());

const sourceOf = ({ issuer: name, audience, jwksUri, clientId }: TokenIssuer): TokenSource => ({
  issuer: name,
  audience,
  jwksUri,
  clientId,
  algorithms: ['ES256'],
});

const service = new TokensService({ providerKeysMaxAgeSeconds: 3_600 } as RunningConfig, new Egress());

const unverified = (token: string) => ({ token, sha256: hash('sha256', token), ...parseToken(token) });

async function refusalOf(token: string, source = sourceOf(issuer)): Promise<Problem | undefined> {
  try {
    await service.verify(unverified(token), source, 2_000);
    return undefined;
  } catch (error) {
    return error as Problem;
  }
}

async function verdict(...token: Parameters<typeof refusalOf>): Promise<string> {
  return (await refusalOf(...token))?.code ?? 'accepted';
}

/** Returns the verdict of another library on the token. */
async function secondVerdict(token: string): Promise<boolean> {
  const as = { issuer: issuer.issuer, jwks_uri: issuer.jwksUri };
  const request = new Request('https://payouts.example/', { headers: { authorization: `Bearer ${token}` } });
  const options = { [oauth.allowInsecureRequests]: true };
  return oauth.validateJwtAccessToken(as, request, issuer.audience, options).then(
    () => true,
    () => false,
  );
}

describe('TokensService', () => {
  it('accepts tokens of the provider, as another library does', async () => {
    const tokens = await Promise.all([
      issuer.token(),
      issuer.token({ aud: ['https://other.example', issuer.audience] }),
      issuer.token({}, { typ: 'application/at+jwt' }),
      issuer.token({}, { typ: 'AT+JWT' }),
      issuer.token({}, { kid: undefined }), // the provider has one key
      issuer.token({ scope: undefined, nbf: 0, auth_time: 1_700_000_000, act: { sub: 'carol' } }),
    ]);
    expect(await Promise.all(tokens.map((token) => verdict(token)))).toEqual(tokens.map(() => 'accepted'));
    expect(await Promise.all(tokens.map(secondVerdict))).toEqual(tokens.map(() => true));
  });

  it('returns the claims of the token', async () => {
    const token = await issuer.token({
      scope: 'pay  read',
      auth_time: 1_700_000_000,
      azp: issuer.clientId,
      act: { sub: 'carol' },
    });
    const claims = await service.verify(unverified(token), sourceOf(issuer), 2_000);
    expect(claims).toMatchObject({
      issuer: issuer.issuer,
      subject: 'alice',
      scopes: ['pay', 'read'],
      authTime: 1_700_000_000,
      jkt: null,
      act: { issuer: issuer.issuer, subject: 'carol' },
    });
  });

  it('rejects forged tokens', async () => {
    const forged = await forgedTokens(issuer);
    const verdicts = await Promise.all(forged.map(async ([attack, token]) => [attack, await verdict(token)]));
    const odd = verdicts.filter(([, code]) => code !== 'invalid_token' && code !== 'token_expired');
    expect(odd).toEqual([]);
    expect(forged.length).toBeGreaterThan(120);
  });

  it('refuses a token of another authorized party or with several actors', async () => {
    expect(await verdict(await issuer.token({ azp: 'another-app' }))).toBe('invalid_token');
    expect(await verdict(await issuer.token({ act: { sub: 'carol', act: { sub: 'dora' } } }))).toBe(
      'invalid_token',
    );
  });

  it('never quotes a token or a claim', async () => {
    const refusals = await Promise.all((await forgedTokens(issuer)).map(([, token]) => refusalOf(token)));
    for (const refusal of refusals)
      expect(JSON.stringify([refusal?.message, refusal])).not.toMatch(/alice|eyJ|wallet-app/);
  });

  it('refuses an expired token that it had accepted', async () => {
    const token = await issuer.token();
    expect(await verdict(token)).toBe('accepted');
    const later = clock.nowMs() + 300_000;
    jest.spyOn(clock, 'nowMs').mockReturnValue(later);
    expect(await verdict(token)).toBe('token_expired');
    jest.restoreAllMocks();
  });

  it('verifies a token again after a change of its provider', async () => {
    const token = await issuer.token();
    const source = sourceOf(issuer);
    expect(await verdict(token, source)).toBe('accepted');
    expect(await verdict(token, { ...source, algorithms: ['RS256'] })).toBe('invalid_token');
    expect(await verdict(token, { ...source, audience: 'https://new.example' })).toBe('invalid_token');
    expect(await verdict(token, source)).toBe('accepted');
  });

  it('tries each key with one ID during a rotation', async () => {
    const other = await TokenIssuer.start();
    other.keys = await Promise.all([newSigningKey('ES256', 'twin'), newSigningKey('ES256', 'twin')]);
    for (const key of other.keys)
      expect(await verdict(await other.token({}, {}, key), sourceOf(other))).toBe('accepted');
    const stranger = await newSigningKey('ES256', 'twin');
    expect(await verdict(await other.token({}, {}, stranger), sourceOf(other))).toBe('invalid_token');
    await other.stop();
  });

  it('accepts each algorithm with its own key', async () => {
    const other = await TokenIssuer.start();
    other.keys = await Promise.all(['ES256', 'RS256', 'Ed25519'].map((alg) => newSigningKey(alg)));
    const source = { ...sourceOf(other), algorithms: ['ES256', 'RS256', 'Ed25519'] };
    for (const key of other.keys)
      expect(await verdict(await other.token({}, {}, key), source)).toBe('accepted');
    const [first, second] = other.keys;
    expect(await verdict(await other.token({}, { kid: first?.kid }, second), source)).toBe('invalid_token');
    await other.stop();
  });
});
