import { createTokenClient } from '../support/access/token-client';
import { newSigningKey, proofOf, TokenIssuer } from '../support/access/token-issuer';
import { sourceFiles } from '../support/examples/source';
import supertest from '../support/http/supertest';
import { startProxy, TestProxy } from '../support/processes/proxy';

const OWN = 'https://payouts.example.com';

describe('PUBLIC_URL', () => {
  let proxy: TestProxy;
  let issuer: TokenIssuer;
  let key: string;

  beforeAll(async () => {
    issuer = await TokenIssuer.start();
    const settings = { publicUrls: [OWN, 'https://pay.example.org'], trustedProxies: ['127.0.0.1'] };
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9', ...settings });
    await createTokenClient(proxy.database, 'wallet', issuer);
    ({ key } = await proxy.client('ops', 'read', 'admin'));
  });
  afterAll(async () => {
    await proxy.close();
    await issuer.stop();
  });

  const ask = (path: '/v1/limits' | '/livez' | '/readyz' | '/console', headers: Record<string, string>) =>
    supertest(proxy.url).get(path).set(headers);

  it('refuses other hosts with 421, and answers probes for any host', async () => {
    await ask('/v1/limits', { Host: 'payouts.example.com', 'X-API-Key': key }).expect(200);
    await ask('/v1/limits', {
      Host: 'internal',
      'X-Forwarded-Host': 'pay.example.org',
      'X-API-Key': key,
    }).expect(200);
    for (const Host of ['evil.example', 'localhost', new URL(proxy.url).host]) {
      const { body } = await ask('/v1/limits', { Host, 'X-API-Key': key }).expect(421);
      expect(body).toMatchObject({ code: 'misdirected_request', action: 'fix_request' });
      await ask('/console', { Host }).expect(421);
      await ask('/livez', { Host }).expect(200);
      await ask('/readyz', { Host }).expect(200);
    }
  });

  it('limits DPoP proofs to its own addresses, whatever the Host header', async () => {
    const signing = await newSigningKey();
    const token = await issuer.boundToken(signing);
    const askWith = async (host: string, htu: string) => {
      const proof = await proofOf(signing, { token, method: 'GET', url: `${htu}/v1/limits` });
      const { status, body } = await ask('/v1/limits', {
        Host: host,
        Authorization: `DPoP ${token}`,
        DPoP: proof,
      });
      return [status, body.code];
    };
    expect(await askWith('payouts.example.com', OWN)).toEqual([200, undefined]);
    expect(await askWith('pay.example.org', 'https://pay.example.org')).toEqual([200, undefined]);
    expect(await askWith('evil.example', 'http://evil.example')).toEqual([421, 'misdirected_request']);
    expect(await askWith('payouts.example.com', 'https://pay.example.org')).toEqual([
      401,
      'invalid_dpop_proof',
    ]);
    expect(await askWith('payouts.example.com', 'http://payouts.example.com')).toEqual([
      401,
      'invalid_dpop_proof',
    ]);
  });

  it('determines the own pages of the proxy, and whether cookies require TLS', async () => {
    const begun = await supertest(proxy.url)
      .post('/v1/session')
      .set({ Host: 'payouts.example.com', Origin: OWN, 'X-Forwarded-Proto': 'https,http', 'X-API-Key': key })
      .expect(200);
    const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? '';
    expect(cookie).toMatch(/^__Host-payout_proxy=/);
    const act = (Origin: string) =>
      supertest(proxy.url)
        .post('/v1/clients')
        .set({ Host: 'payouts.example.com', Origin, Cookie: cookie, 'X-CSRF-Token': begun.body.csrf_token })
        .send({ name: 'made', scopes: ['read'] });
    expect((await act('http://payouts.example.com').expect(403)).body.code).toBe('origin_not_allowed');
    await act(OWN).expect(201);
  });

  it('adds a security policy to each response, pages or not', async () => {
    const own = { Host: 'payouts.example.com' };
    for (const path of ['/livez', '/console', '/v1/limits'] as const) {
      expect((await ask(path, own)).headers['content-security-policy']).toMatch(
        /default-src 'none'.*frame-ancestors 'none'/,
      );
    }
    const docs = await ask('/docs' as '/livez', own).expect(200);
    expect(docs.headers['content-security-policy']).toMatch(
      /default-src 'none'; script-src 'self'.*frame-ancestors/,
    );
  });

  it('replaces the Host header, which one file reads', () => {
    const isReading = ({ path, text }: { path: string; text: string }) =>
      !path.startsWith('src/sandbox/') &&
      /x-forwarded-(host|proto)|headers\.host\b|request\.(host|hostname|protocol)\b/.test(text);
    expect(
      sourceFiles('src')
        .filter(isReading)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([
      'src/access/auth/origins.spec.ts',
      'src/access/auth/origins.ts',
      'src/access/auth/receive.ts', // only whether there is one
    ]);
  });
});
