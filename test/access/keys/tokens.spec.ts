import { once } from 'node:events';
import { IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { forgedTokens } from '../../support/access/forged-tokens';
import { createTokenClient, TokenClient } from '../../support/access/token-client';
import {
  AIRTIME,
  bearer,
  payAirtime,
  readLimits,
  startTokenScene,
  TokenScene,
} from '../../support/access/token-scene';
import supertest from '../../support/http/supertest';

describe('an access token', () => {
  let scene: TokenScene;
  let client: TokenClient;

  beforeAll(async () => {
    scene = await startTokenScene();
    client = await createTokenClient(scene.proxy.database, 'wallet', scene.issuer);
  });
  afterAll(() => scene.close());

  const pay = (headers: Record<string, string>) => payAirtime(scene.proxy, headers);
  const read = (headers: Record<string, string>) => readLimits(scene.proxy, headers);

  it('pays on behalf of its person, and the record names both', async () => {
    const { issuer, proxy } = scene;
    const token = await issuer.token({
      sub: 'alice-1',
      auth_time: 1_700_000_000,
      act: { sub: 'carol' },
      jti: 'token-1',
    });
    const { headers } = await pay({ ...bearer(token), 'X-Actor': 'bob' }).expect(200);
    await pay({ Authorization: `bearer ${token}` }).expect(200);
    await read(bearer(token)).expect(200);
    const { key } = await proxy.client('auditor', 'audit', 'audit:pii');
    const { body } = await proxy.get(key, `/v1/audit/calls/${headers['x-call-id']}`).expect(200);
    const [carol] = await proxy.database.query("SELECT id FROM person WHERE name = 'carol'");
    expect(body).toMatchObject({
      actor: 'alice-1',
      actor_source: 'token',
      key_id: client.providerKeyId,
      token: {
        jti: 'token-1',
        jkt: null,
        auth_time: '2023-11-14T22:13:20.000Z',
        act: { person_id: carol?.id },
      },
    });
    const [{ record } = { record: '' }] = await proxy.database.query<{ record: string }>(
      'SELECT record FROM intent WHERE id = $1',
      [headers['x-call-id']],
    );
    expect(record).not.toMatch(/alice|carol|eyJ/);
    const refused = await pay({ ...bearer(token), 'Idempotency-Key': 'ü' }).expect(400);
    const refusal = (await proxy.get(key, `/v1/audit/calls/${refused.headers['x-call-id']}`).expect(200))
      .body;
    expect(refusal).toMatchObject({ outcome: 'refused', token: body.token, session: null });
  });

  it('is looked up and verified once while cached', async () => {
    const token = await scene.issuer.token();
    await pay(bearer(token)).expect(200);
    const prepared = jest.spyOn(scene.proxy.app.get(PrismaService, { strict: false }), 'prepared');
    for (let time = 0; time < 5; time += 1) await pay(bearer(token)).expect(200);
    const names = prepared.mock.calls.map(([name]) => name);
    expect(names).not.toContain('find_token_clients');
    expect(names).not.toContain('find_person');
    expect(scene.issuer.requests).toBe(1);
    prepared.mockRestore();
  });

  it('carries many groups up to the header limit, and is refused with that limit', async () => {
    await pay(bearer(await scene.issuer.token({ groups: 'x'.repeat(9_000) }))).expect(200);
    const { body } = await pay(bearer(await scene.issuer.token({ groups: 'x'.repeat(14_000) }))).expect(431);
    expect(body.error).toMatch(/16 KiB.*omit its groups/);
  });

  it('is refused with the cause if its issuer differs by a trailing slash', async () => {
    const errorOf = async (iss: string) =>
      (await pay(bearer(await scene.issuer.token({ iss }))).expect(401)).body.error;
    expect(await errorOf(`${scene.issuer.issuer}/`)).toMatch(/differ by a final slash.*token_issuer/);
    expect(await errorOf('https://evil.example')).toMatch(/no client of this API accepts tokens/);
  });

  it('ends a day after issue, even if it expires in the year 4000', async () => {
    const exp = Date.UTC(4000, 0) / 1_000;
    await pay(bearer(await scene.issuer.token({ exp }))).expect(200);
    const yesterday = Math.floor(Date.now() / 1_000) - 86_400;
    const old = await scene.issuer.token({ exp, iat: yesterday });
    expect((await pay(bearer(old)).expect(401)).body.code).toBe('token_expired');
  });

  it('is rejected with instructions if forged', async () => {
    const sent = scene.upstream.received.length;
    const forged = (await forgedTokens(scene.issuer)).filter(([, token]) => /^[\x21-\x7e]*$/.test(token));
    for (const [attack, token] of forged) {
      const { status, body, headers } = await pay(bearer(token));
      const codes = expect.stringMatching(/^(invalid_token|token_expired)$/) as string;
      expect([attack, status, body.code]).toEqual([attack, 401, codes]);
      expect(body.error).toMatch(/Get a new one/);
      expect(headers['www-authenticate']).toMatch(
        /^Bearer realm="payout-proxy", error="invalid_token", error_description="[^"\\]+", DPoP realm/,
      );
    }
    expect(scene.upstream.received.length).toBe(sent);
    expect(await scene.proxy.database.query("SELECT FROM person WHERE name = 'bob'")).toEqual([]);
  });

  it('slows down only the address that keeps sending forged ones', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    const token = await scene.issuer.token();
    await pay({ ...bearer(token), ...headers }).expect(200);
    const codes: string[] = [];
    for (let time = 0; time < 25; time += 1) {
      const { body } = await pay({ ...bearer(`${token}x`), ...headers });
      codes.push(body.code ?? '');
    }
    expect([codes[0], codes.at(-1)]).toEqual(['invalid_token', 'too_many_attempts']);
    await pay({ ...bearer(token), ...headers }).expect(200);
  });

  it('is accepted only in the header, without other credentials', async () => {
    const token = await scene.issuer.token();
    const { key } = await scene.proxy.client('with-key', 'pay', 'read');
    const both = await pay({ ...bearer(token), 'X-API-Key': key });
    expect([both.status, both.body.code]).toEqual([400, 'several_credentials']);
    const twice = ['Host', 'proxy', 'Authorization', `Bearer ${token}`, 'authorization', 'Bearer x'];
    const repeated = request(`${scene.proxy.url}/v1/limits`, { headers: twice });
    const [answer] = (await once(repeated.end(), 'response')) as [IncomingMessage];
    expect([answer.statusCode, await text(answer)]).toEqual([
      400,
      expect.stringContaining('several_credentials'),
    ]);
    await read({ ...bearer(token), 'X-Client': 'authorization' }).expect(200);
    const sent = supertest(scene.proxy.url).post(`/api/v0.1/payouts/airtime?access_token=${token}`);
    expect((await sent.send({ ...AIRTIME, access_token: token })).body.code).toBe('missing_key');
    const { headers } = await read({ Authorization: 'Basic YTpi' }).expect(401);
    expect(headers['www-authenticate']).toBe(
      'Bearer realm="payout-proxy", DPoP realm="payout-proxy", ' +
        'algs="ES256 ES384 ES512 EdDSA Ed25519 RS256 PS256"',
    );
    await pay({ Authorization: 'Basic YTpi', 'X-API-Key': key }).expect(200); // for another server
  });

  it('grants the scopes that both the token and the client have', async () => {
    const { issuer, proxy } = scene;
    const readOnly = await pay(bearer(await issuer.token({ scope: 'openid read' })));
    expect([readOnly.status, readOnly.body.code]).toEqual([403, 'scope_missing']);
    expect(readOnly.headers['www-authenticate']).toContain('error="insufficient_scope"');
    for (const scope of ['', undefined, 'PAY', 'payments', 'pay,read']) {
      const { body } = await pay(bearer(await issuer.token({ scope })));
      expect([scope, body.code]).toEqual([scope, 'scope_missing']);
    }
    const administrator = await issuer.token({
      scope: 'admin audit audit:pii approve reconcile account pay',
    });
    for (const path of ['/v1/clients', '/v1/audit/calls', '/v1/approvals'] as const) {
      const { status } = await supertest(proxy.url).get(path).set(bearer(administrator));
      expect([path, status]).toEqual([path, 403]);
    }
  });

  it('opens no operator route, regardless of the scopes of its client', async () => {
    const { issuer, proxy } = scene;
    const scope = 'pay read admin audit audit:pii approve reconcile account';
    const { issuer: name, audience, jwksUri } = issuer;
    const own = await createTokenClient(proxy.database, 'powerful', {
      issuer: name,
      audience,
      jwksUri,
      clientId: 'powerful',
    });
    await proxy.database.query('UPDATE client SET scopes = $2 WHERE id = $1', [own.id, scope.split(' ')]);
    const token = bearer(await issuer.token({ scope, client_id: 'powerful' }));
    for (const path of ['/v1/clients', '/v1/audit/calls', '/v1/approvals'] as const) {
      const { status, body } = await supertest(proxy.url).get(path).set(token);
      expect([path, status, body.code]).toEqual([path, 403, 'secret_key_required']);
    }
  });

  it('starts no console session, which would grant all scopes of the client', async () => {
    const answer = await supertest(scene.proxy.url)
      .post('/v1/session')
      .set(bearer(await scene.issuer.token()));
    expect([answer.status, answer.body.code]).toEqual([403, 'secret_key_required']);
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  it('is accepted in pages from origins of its client only', async () => {
    const { database } = scene.proxy;
    const token = await scene.issuer.token();
    const from = (origin: string) => pay({ ...bearer(token), Origin: origin });
    await database.query("UPDATE client SET origins = '{https://app.example}' WHERE id = $1", [client.id]);
    expect((await from('https://evil.example')).body.code).toBe('origin_not_allowed');
    const { headers } = await from('https://app.example').expect(200);
    expect(headers['access-control-expose-headers']).toContain('WWW-Authenticate');
    const preflight = await supertest(scene.proxy.url).options('/api/v0.1/payouts/airtime').set({
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'Authorization, DPoP',
    });
    expect(preflight.headers['access-control-allow-headers']).toMatch(/Authorization, DPoP/);
  });
});
