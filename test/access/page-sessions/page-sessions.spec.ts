import { Secret } from '../../../src/platform/config/secrets/secret';
import { confidentialClient } from '../../support/access/provider';
import { endSession, open } from '../../support/access/signing-in';
import {
  createPageClient,
  ofPage,
  PAGE,
  PAGE_ORIGIN,
  PageScene,
  payOnPage,
  readPageSession,
  signInToPage,
  startPageScene,
} from '../../support/console/page-scene';
import supertest from '../../support/http/supertest';
import { startProxy } from '../../support/processes/proxy';

const SECRETS = 'a-secret-of-the-bank-at-the-provider';

describe('a page session', () => {
  let scene: PageScene;
  let url: string;

  beforeAll(async () => {
    scene = await startPageScene();
    url = scene.proxy.url;
  });
  afterAll(() => scene.close());

  const recordOf = async (id: string) => {
    const { key } = await scene.proxy.client(`auditor-${id.slice(-6)}`, 'audit', 'audit:pii');
    const { body } = await supertest(url).get(`/v1/audit/calls/${id}`).set('X-API-Key', key).expect(200);
    return body;
  };

  it('begins at the provider, and returns to the page', async () => {
    const alice = await signInToPage(url, 'alice');
    const { body } = await readPageSession(url, alice.cookies).expect(200);
    expect(body).toEqual({
      client: 'wallet',
      person_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      scopes: ['pay', 'write', 'read'],
      csrf_token: alice.csrfToken,
      signed_in_at: expect.stringMatching(/Z$/),
      ends_at: expect.stringMatching(/Z$/),
    });
    const hours = (Date.parse(body.ends_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThan(12.1);
  });

  it('sets a cookie that is unreadable for scripts and never sent by other sites', async () => {
    const { cookies, csrfToken } = await signInToPage(url, 'alice');
    expect([...cookies.values.keys()].filter((name) => name.startsWith('payout_proxy'))).toEqual([
      'payout_proxy_page_wallet',
    ]);
    const https = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'payouts.example.com' };
    const begun = await fetch(`${url}/session/pages/wallet/sign-in?return_to=${PAGE}`, {
      headers: https,
      redirect: 'manual',
    });
    expect(begun.headers.get('set-cookie')).toMatch(
      /^__Host-payout_proxy_sign_in_wallet=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const requested = new URL(begun.headers.get('location') ?? '').searchParams;
    expect(requested.get('redirect_uri')).toBe('https://payouts.example.com/session/pages/wallet/callback');
    const token = cookies.values.get('payout_proxy_page_wallet') ?? '';
    await supertest(url)
      .get('/v1/page-sessions/wallet')
      .set({ ...https, Cookie: `__Host-payout_proxy_page_wallet=${token}`, Origin: PAGE_ORIGIN })
      .expect(200);
    const ended = await fetch(`${url}/v1/page-sessions/wallet`, {
      method: 'DELETE',
      headers: {
        ...https,
        cookie: `__Host-payout_proxy_page_wallet=${token}`,
        origin: PAGE_ORIGIN,
        'x-csrf-token': csrfToken,
      },
    });
    expect(ended.headers.getSetCookie()[0]).toBe(
      '__Host-payout_proxy_page_wallet=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict',
    );
  });

  it('pays, and the record names its person and sign-in time', async () => {
    const alice = await signInToPage(url, 'alice');
    const answer = await payOnPage(url, alice).expect(200);
    const id = String(answer.headers['x-call-id']);
    const record = await recordOf(id);
    const [session] = await scene.proxy.database.query(
      'SELECT id, person_id FROM page_session ORDER BY id DESC LIMIT 1',
    );
    expect(record).toMatchObject({
      actor: 'alice',
      actor_source: 'session',
      key_id: scene.wallet.pageKeyId,
      person_id: session?.person_id,
      session: { id: session?.id, auth_time: expect.stringMatching(/Z$/) },
      token: null,
    });
    const { body: timeline } = await supertest(url).get(`/v1/calls/${id}`).set(ofPage(alice)).expect(200);
    expect(timeline.id).toBe(id);
    const refused = await supertest(url)
      .post('/api/v0.1/payouts/airtime')
      .set(ofPage(alice))
      .send({})
      .expect(400);
    const refusal = await recordOf(String(refused.headers['x-call-id']));
    expect(refusal).toMatchObject({ outcome: 'refused', session: record.session, token: null });
    const { key } = await scene.proxy.client('exporter', 'audit');
    const exported = await fetch(`${url}/v1/audit/export?format=csv`, { headers: { 'x-api-key': key } });
    expect((await exported.text()).split(String(session?.id))).toHaveLength(3); // both lines name it
  });

  it('belongs to the same person in every browser, and to no other person', async () => {
    const [first, second, bob] = [
      await signInToPage(url, 'alice'),
      await signInToPage(url, 'alice'),
      await signInToPage(url, 'bob'),
    ];
    const key = { 'Idempotency-Key': 'order-1' };
    const paid = await payOnPage(url, first, key).expect(200);
    const replay = await payOnPage(scene.second.url, second, key).expect(200);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    const other = await payOnPage(url, bob, { ...key, 'Allow-Duplicate-Of': '' });
    expect(other.headers['idempotent-replayed']).toBeUndefined();
    await supertest(url)
      .get(`/v1/calls/${String(paid.headers['x-call-id'])}`)
      .set(ofPage(bob))
      .expect(404);
  });

  it('has its own idempotency keys, in the database too', async () => {
    const alice = await signInToPage(url, 'alice');
    const { headers } = await payOnPage(url, alice, { 'Idempotency-Key': 'order-2' }).expect(200);
    const [row] = await scene.proxy.database.query(
      `SELECT c.key, c.key = scoped_key(i.person_id, i.record, 'order-2') AS "isScoped", i.person_id
       FROM intent i JOIN idempotency_claim c ON c.intent_id = i.id WHERE i.id = $1`,
      [headers['x-call-id']],
    );
    expect(row).toMatchObject({ key: `${String(row?.person_id)} order-2`, isScoped: true });
  });

  it('pays from a page on the host of the proxy', async () => {
    const alice = await signInToPage(url, 'alice');
    await payOnPage(url, alice, { Origin: url, 'Sec-Fetch-Site': 'same-origin' }).expect(200);
    await supertest(url)
      .get('/v1/calls')
      .set({ Cookie: alice.cookies.header, 'X-CSRF-Token': alice.csrfToken, 'Sec-Fetch-Site': 'same-origin' })
      .expect(200);
  });

  it('ignores the actor that the page sends', async () => {
    const alice = await signInToPage(url, 'alice');
    const { headers } = await payOnPage(url, alice, { 'X-Actor': 'bob', 'Idempotency-Key': 'named' });
    expect((await recordOf(String(headers['x-call-id']))).actor).toBe('alice');
  });

  it('has no operator scope, regardless of its client', async () => {
    const { name } = await createPageClient(scene.proxy, scene.provider, 'staff', {
      scopes: ['read', 'admin', 'approve', 'audit', 'audit:pii', 'account'],
    });
    const alice = await signInToPage(url, 'alice', { client: name });
    const { body } = await readPageSession(url, alice.cookies, name).expect(200);
    expect(body.scopes).toEqual(['read']);
    for (const path of ['/v1/clients', '/v1/approvals', '/v1/audit/calls', '/v1/ephemeral-keys'] as const) {
      const answer = await supertest(url).get(path).set(ofPage(alice)).expect(403);
      expect(answer.body.code).toBe('secret_key_required');
    }
    await supertest(url).post('/v1/session').set(ofPage(alice)).expect(403);
    await payOnPage(url, alice).expect(403);
  });

  it('is selected by the CSRF token among sessions of several clients', async () => {
    await createPageClient(scene.proxy, scene.provider, 'shop');
    const wallet = await signInToPage(url, 'alice');
    const shop = await signInToPage(url, 'alice', { client: 'shop', cookies: wallet.cookies });
    expect(shop.csrfToken).not.toBe(wallet.csrfToken);
    const clientOf = async (visitor: typeof shop) => {
      const { headers } = await payOnPage(url, visitor).expect(200);
      return (await recordOf(String(headers['x-call-id']))).client.name;
    };
    expect([await clientOf(wallet), await clientOf(shop)]).toEqual(['wallet', 'shop']);
  });

  it('begins with the client secret at the provider, if configured', async () => {
    const { issuer } = scene.provider;
    const secrets = JSON.stringify({
      [issuer]: { 'bank-pages': SECRETS },
      'https://other.example': { 'bank-pages': 'x' },
    });
    const settings = { upstreamBaseUrl: scene.upstream.url, pageClientSecrets: new Secret(secrets) };
    const proxy = await startProxy(settings, scene.proxy.database);
    const atProvider = confidentialClient('bank-pages', SECRETS, `${proxy.url}/session/pages/bank/callback`);
    await createPageClient(proxy, scene.provider, 'bank', { atProvider });
    await signInToPage(proxy.url, 'alice', { client: 'bank' });
    await proxy.close();
  });

  it('ends at the proxy and at the provider', async () => {
    const alice = await signInToPage(url, 'alice');
    const stolen = alice.cookies.values.get('payout_proxy_page_wallet') ?? '';
    const address = `${url}/v1/page-sessions/wallet?return_to=${encodeURIComponent(PAGE)}`;
    const { endSessionUrl, text } = await endSession(address, alice.cookies, ofPage(alice));
    expect(text).not.toContain('eyJ'); // scripts get no token
    const away = new URL((await open(alice.cookies, endSessionUrl)).location ?? '');
    expect(`${away.origin}${away.pathname}`).toBe(`${scene.provider.issuer}/session/end`);
    expect(away.searchParams.get('post_logout_redirect_uri')).toBe(PAGE);
    alice.cookies.values.set('payout_proxy_page_wallet', stolen);
    for (const instance of [scene.proxy, scene.second]) {
      const refused = await payOnPage(instance.url, alice).expect(401);
      expect(refused.body).toMatchObject({ status: 'error', code: 'session_ended' });
    }
  });
});
