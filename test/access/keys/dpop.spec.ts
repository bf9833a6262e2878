import { createTokenClient } from '../../support/access/token-client';
import { newSigningKey, proofOf, SigningKey } from '../../support/access/token-issuer';
import {
  bearer,
  payAirtime,
  readLimits,
  startTokenScene,
  TokenScene,
} from '../../support/access/token-scene';
import { removeExpired } from '../../support/databases/expiry';
import { TestProxy } from '../../support/processes/proxy';

describe('a DPoP-bound token', () => {
  let scene: TokenScene;
  let key: SigningKey;

  beforeAll(async () => {
    scene = await startTokenScene();
    key = await newSigningKey();
    await createTokenClient(scene.proxy.database, 'wallet', scene.issuer);
    const bound = { ...providerOf(scene), clientId: 'bound-app' };
    await createTokenClient(scene.proxy.database, 'bound', bound, { dpop: true });
  });
  afterAll(() => scene.close());

  const providerOf = ({ issuer: { issuer, audience, jwksUri } }: TokenScene) => ({
    issuer,
    audience,
    jwksUri,
  });
  const payUrl = ({ url }: TestProxy) => `${url}/api/v0.1/payouts/airtime`;
  const dpop = (token: string, proof: string) => ({ Authorization: `DPoP ${token}`, DPoP: proof });

  async function payment(token: string, claims = {}, header = {}, signer = key) {
    const request = { token, method: 'POST', url: payUrl(scene.proxy) };
    return dpop(token, await proofOf(signer, request, claims, header));
  }

  async function codeOf(headers: Record<string, string>, proxy = scene.proxy): Promise<string> {
    const { body } = await payAirtime(proxy, headers);
    return String(body.code ?? 'done');
  }

  it('pays with one proof per request, and records the key thumbprint', async () => {
    const token = await scene.issuer.boundToken(key);
    const { headers } = await payAirtime(scene.proxy, await payment(token)).expect(200);
    await payAirtime(scene.proxy, await payment(token)).expect(200);
    const url = `${scene.proxy.url}/v1/limits`;
    await readLimits(scene.proxy, dpop(token, await proofOf(key, { token, method: 'GET', url }))).expect(200);
    const [row] = await scene.proxy.database.query(
      "SELECT record::json -> 'token' ->> 'jkt' AS jkt FROM intent WHERE id = $1",
      [headers['x-call-id']],
    );
    expect(row?.jkt).toMatch(/^[\w-]{43}$/);
  });

  it('is rejected as a bearer token', async () => {
    const token = await scene.issuer.boundToken(key);
    expect(await codeOf(bearer(token))).toBe('use_dpop');
    expect(await codeOf({ ...(await payment(token)), ...bearer(token) })).toBe('use_dpop');
    const { headers } = await payAirtime(scene.proxy, bearer(token));
    expect(headers['www-authenticate']).toMatch(
      /^DPoP realm="payout-proxy", algs="[^"]+", error="invalid_token"/,
    );
  });

  it('requires exactly one proof', async () => {
    const token = await scene.issuer.boundToken(key);
    expect(await codeOf({ Authorization: `DPoP ${token}` })).toBe('invalid_dpop_proof');
    const [first, second] = [await payment(token), await payment(token)];
    expect(await codeOf({ ...first, DPoP: `${first.DPoP}, ${second.DPoP}` })).toBe('invalid_dpop_proof');
    const { headers } = await payAirtime(scene.proxy, { Authorization: `DPoP ${token}` });
    expect(headers['www-authenticate']).toMatch(/^DPoP .*error="invalid_dpop_proof"/);
  });

  it('is rejected with a proof of another key or another request', async () => {
    const token = await scene.issuer.boundToken(key);
    const thief = await newSigningKey();
    const other = await scene.issuer.boundToken(key);
    const attacks = [
      await payment(token, {}, {}, thief),
      await payment(token, {}, { jwk: key.publicJwk }, thief),
      await payment(token, { htm: 'GET' }),
      await payment(token, { htu: `${scene.proxy.url}/api/v0.1/payouts/credit` }),
      await payment(token, { htu: payUrl(scene.proxy).replace('http:', 'https:') }),
      await payment(token, { iat: 1_700_000_000 }),
      { ...(await payment(other)), Authorization: `DPoP ${token}` },
      dpop(token, token),
    ];
    expect(await Promise.all(attacks.map((each) => codeOf(each)))).toEqual(
      attacks.map(() => 'invalid_dpop_proof'),
    );
  });

  it('rejects a replayed proof, concurrently and on another instance', async () => {
    const token = await scene.issuer.boundToken(key);
    const htu = 'https://payouts.example/api/v0.1/payouts/airtime';
    // A trusted load balancer in front of both instances states the public address.
    const balanced = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'payouts.example' };
    const proof = { ...(await payment(token, { htu })), ...balanced };
    const sent = scene.upstream.received.length;
    const all = Array.from({ length: 20 }, (_, index) =>
      codeOf(proof, index % 2 ? scene.proxy : scene.second),
    );
    const codes = await Promise.all(all);
    expect(codes.toSorted()).toEqual(['done', ...Array.from({ length: 19 }, () => 'invalid_dpop_proof')]);
    expect(scene.upstream.received.length).toBe(sent + 1);
    expect(await codeOf(proof, scene.second)).toBe('invalid_dpop_proof');
    const read = await proofOf(key, { token, method: 'GET', url: 'https://payouts.example/v1/limits' });
    const reading = { ...dpop(token, read), ...balanced };
    await readLimits(scene.proxy, reading).expect(200);
    await readLimits(scene.second, reading).expect(401);
  });

  it('accepts a proof for the public URL', async () => {
    const token = await scene.issuer.boundToken(key);
    const proof = await payment(token, { htu: 'https://payouts.example/api/v0.1/payouts/airtime' });
    expect(await codeOf({ ...proof, 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'evil.example' })).toBe(
      'invalid_dpop_proof',
    );
  });

  it('is required by a client with DPoP enforcement', async () => {
    const claims = { client_id: 'bound-app' };
    const unbound = await scene.issuer.token(claims);
    expect(await codeOf(bearer(unbound))).toBe('use_dpop');
    expect(await codeOf(await payment(unbound))).toBe('use_dpop');
    const bound = await scene.issuer.boundToken(key, claims);
    expect(await codeOf(bearer(bound))).toBe('use_dpop');
    expect(await codeOf(await payment(bound))).toBe('done');
  });

  it('rejects a proof for an unbound token', async () => {
    const token = await scene.issuer.token();
    expect(await codeOf(await payment(token))).toBe('invalid_token');
    // the header DPoP has no effect then
    expect(await codeOf({ ...(await payment(token)), ...bearer(token) })).toBe('done');
  });

  it('stores only a hash of a proof until it expires', async () => {
    const { database } = scene.proxy;
    const token = await scene.issuer.boundToken(key);
    await payAirtime(scene.proxy, await payment(token, { jti: 'a-proof-of-alice' })).expect(200);
    expect(await removeExpired(scene.proxy)).toMatchObject({ used_token: 0 });
    const [{ count } = { count: 0 }] = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM used_token WHERE counts_until > now() + interval '4 minutes'`,
    );
    expect(count).toBeGreaterThan(0);
    await database.query("UPDATE used_token SET counts_until = now() - interval '2 minutes'");
    expect(await removeExpired(scene.proxy)).toMatchObject({ used_token: count });
  });
});
