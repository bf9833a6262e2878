import { routesOf } from '../../../src/app/routes';
import { EphemeralScene } from '../../support/access/ephemeral-scene';
import { mint } from '../../support/access/minting';
import supertest from '../../support/http/supertest';
import { PHONE } from '../../support/payments/paying';
import { TestProxy } from '../../support/processes/proxy';

const SHOP = 'https://shop.example';
const AIRTIME = 'POST /payouts/airtime';
const CREDIT = 'POST /payouts/credit';

/** The holder of the key, a phone or a page, may be hostile. */
describe('an ephemeral key as the caller', () => {
  let scene: EphemeralScene;
  let proxy: TestProxy;

  beforeAll(async () => {
    scene = await EphemeralScene.start();
    ({ proxy } = scene);
  });
  afterAll(() => scene.close());

  const credit = (key: string, recipient: object) =>
    proxy.post(key, '/payouts/credit', { credits: [{ ...recipient, valueInUSD: 1 }] });
  const preview = (key: string, recipient: object) =>
    supertest(proxy.url)
      .post('/v1/preview/payouts/credit')
      .set('X-API-Key', key)
      .send({ credits: [{ ...recipient, valueInUSD: 1 }] });

  it('opens its operations and its own calls only', async () => {
    const { key: secret } = await scene.app();
    const { key } = await mint(proxy, secret, { operations: [AIRTIME, 'GET /account/transaction'] });
    const opened: string[] = [];
    for (const { method, path } of routesOf(proxy.app)) {
      const url = `${proxy.url}/${path.replace(/:\w+/g, '019ac000-0000-7000-8000-000000000000')}`;
      const response = await fetch(url, { method, headers: { 'X-API-Key': key } });
      await response.body?.cancel();
      const isPublic = !path.startsWith('v1/') && !path.startsWith('api/');
      if (![401, 403].includes(response.status) && !isPublic) opened.push(`${method} /${path}`);
    }
    expect(opened.sort()).toEqual(
      [
        'GET /api/v0.1/account/transaction',
        'GET /v1/calls',
        'GET /v1/calls/:id',
        'GET /v1/calls/:id/receipt',
        'GET /v1/limits',
        'GET /v1/payouts/:id',
        'POST /api/v0.1/payouts/airtime',
        'POST /v1/key-claims', // needs a claim code, and no key
        'POST /v1/preview/payouts/airtime',
      ].sort(),
    );
  });

  it('pays as its person within its own limits, whatever X-Actor names', async () => {
    const { key: secret, id } = await scene.app();
    const { key, id: keyId } = await mint(proxy, secret, { countries: ['Kenya'] });
    const paid = await scene.pay(key).set('X-Actor', 'grace').expect(200);
    const auditor = (await proxy.client(`auditor-${id}`.slice(0, 40), 'audit')).key;
    const record = await proxy.get(auditor, `/v1/audit/calls/${paid.headers['x-call-id']}`).expect(200);
    expect(record.body).toMatchObject({ actor: 'ada', actor_source: 'ephemeral', ephemeral_key_id: keyId });
    await scene.expectNothingSent(() => scene.pay(key, { usd: 5.01 }), 'cap_exceeded');
    await scene.expectNothingSent(
      () => scene.pay(key, { country: 'Ghana', phone: '+233241234567' }),
      'country_not_allowed',
    );
    await scene.expectNothingSent(() => credit(key, { email: 'ada@example.com' }), 'operation_not_allowed');
  });

  it('loses the permissions that its client loses', async () => {
    const { key: secret, id } = await scene.app();
    const { key } = await mint(proxy, secret, {
      countries: ['Kenya', 'Ghana'],
      operations: [AIRTIME, CREDIT],
    });
    await scene.pay(key).expect(200);
    await scene.change(id, `countries = '{Ghana,Uganda}'`);
    await scene.expectNothingSent(() => scene.pay(key), 'country_not_allowed');
    await scene.change(id, `countries = '{Uganda}'`);
    await scene.expectNothingSent(
      () => scene.pay(key, { country: 'Uganda', phone: '+256772123456' }),
      'ephemeral_key_ended',
    );
    await scene.change(id, `countries = '{}', max_item_usd = 0.5`);
    await scene.expectNothingSent(() => scene.pay(key), 'cap_exceeded');
    await scene.change(id, `max_item_usd = NULL, operations = '{${CREDIT}}'`);
    await scene.expectNothingSent(() => scene.pay(key), 'operation_not_allowed');
    await scene.change(id, `operations = NULL, scopes = '{read}'`);
    await scene.expectNothingSent(() => scene.pay(key), 'scope_missing');
    await scene.change(id, `scopes = '{pay}'`);
    await scene.pay(key).expect(200);
  });

  it('pays only its own recipients, in any spelling', async () => {
    const { key: secret } = await scene.app();
    const recipients = ['00254 712-345 678', 'Ada@Example.com', '@Grace'];
    const { key } = await mint(proxy, secret, { recipients, operations: [AIRTIME, CREDIT] });
    await scene.pay(key).expect(200);
    await scene.pay(key, { phone: PHONE }).expect(200);
    await credit(key, { email: 'aDA@example.COM' }).expect(200);
    await credit(key, { twitter: '@gRACE' }).expect(200);
    await scene.expectNothingSent(() => scene.pay(key, { phone: '+254712345679' }), 'recipient_not_allowed');
    await scene.expectNothingSent(() => credit(key, { email: 'ada@example.org' }), 'recipient_not_allowed');
    // The upstream pays by the email address.
    const both = { email: 'mallory@example.com', twitter: '@Grace' };
    await scene.expectNothingSent(() => credit(key, both), 'recipient_not_allowed');
    const { body } = await preview(key, both).expect(200);
    expect(body).toMatchObject({ would: 'be_refused' });
    expect(JSON.stringify(body)).toContain('is not among the recipients of this ephemeral key');
    expect((await preview(key, { email: 'ada@example.com' }).expect(200)).body).toMatchObject({
      would: 'be_sent',
    });
  });

  it('shows its own caps and spending instead of those of its client', async () => {
    const { key: secret, id } = await scene.app();
    const caps =
      'daily_cap_usd = 9000, max_item_usd = 4, person_daily_cap_usd = 30, person_requests_per_minute = 900';
    await scene.change(id, caps);
    await scene.pay(secret, { usd: 3 }).set('X-Actor', 'grace').expect(200);
    const { key, expires_at } = await mint(proxy, secret, { operations: [AIRTIME, CREDIT], max_item: 3 });
    await scene.pay(key, { usd: 2 }).expect(200);
    const { body } = await proxy.get(key, '/v1/limits').expect(200);
    expect(body).toMatchObject({
      daily: { cap_usd: '30', spent_usd: '2', left_usd: '28' },
      monthly: { cap_usd: null, spent_usd: '2' },
      total: { cap_usd: '20', spent_usd: '2', left_usd: '18', resets_at: expires_at },
      max_item_usd: '3',
      requests_per_minute: 900,
    });
    const previewed = (await preview(key, { email: 'ada@example.com' }).expect(200)).body;
    expect(previewed.caps).toMatchObject({ daily: { cap_usd: '30', spent_usd: '2', left_after_usd: '27' } });
    for (const shown of [body, previewed]) expect(JSON.stringify(shown)).not.toContain('9000');
    await scene.change(id, 'daily_cap_usd = 5.5');
    const refused = await scene.pay(key).expect(403);
    expect(refused.body).toMatchObject({
      code: 'cap_exceeded',
      error: expect.stringContaining('a cap of the whole app'),
    });
    await scene.change(id, 'daily_cap_usd = 9000');
    const own = (await proxy.get(secret, '/v1/limits').expect(200)).body;
    expect(own).toMatchObject({ daily: { cap_usd: '9000', spent_usd: '5' }, total: null, max_item_usd: '4' });
  });

  it('neither lists nor replays calls of other persons', async () => {
    const { key: secret } = await scene.app();
    const [ada, bob] = [await mint(proxy, secret), await mint(proxy, secret, { actor: 'bob' })];
    const first = await scene.pay(ada.key).set('Idempotency-Key', 'order-17').expect(200);
    const call = first.headers['x-call-id'] ?? '';
    await proxy.get(bob.key, `/v1/calls/${call}`).expect(404);
    await proxy.get(bob.key, `/v1/payouts/${call}`).expect(404);
    const listed = (await proxy.get(bob.key, '/v1/calls').expect(200)).body.calls;
    expect(listed.map(({ id, outcome }) => id === call || outcome !== 'refused')).toEqual([false, false]);
    const own = await scene.pay(bob.key).set('Idempotency-Key', 'order-17').expect(200);
    expect(own.headers['idempotent-replayed']).toBeUndefined();
    expect(own.headers['x-call-id']).not.toBe(call);

    // A later key of the same person has the same calls.
    const later = await mint(proxy, secret);
    const replayed = await scene.pay(later.key).set('Idempotency-Key', 'order-17').expect(200);
    expect(replayed.headers['idempotent-replayed']).toBe('true');
    await proxy.get(later.key, `/v1/calls/${call}`).expect(200);
  });

  it('works from any address, and only from page origins of its client', async () => {
    const { key: secret, id } = await scene.app();
    const { key } = await mint(proxy, secret);
    await scene.change(id, `addresses = '{192.0.2.0/24}', origins = '{${SHOP}}'`);
    await scene.expectNothingSent(() => scene.pay(secret), 'address_not_allowed');
    await scene.pay(key).set('X-Forwarded-For', '198.51.100.77').expect(200);
    const { headers } = await scene.pay(key).set('Origin', SHOP).expect(200);
    expect(headers['access-control-allow-origin']).toBe(SHOP);
    await scene.expectNothingSent(
      () => scene.pay(key).set('Origin', 'https://evil.example'),
      'origin_not_allowed',
    );
    await scene.change(id, `origins = '{}'`);
    await scene.expectNothingSent(() => scene.pay(key).set('Origin', SHOP), 'origin_not_allowed');
  });

  it('appears in no metric and no record', async () => {
    const { key: secret } = await scene.app();
    const { key } = await mint(proxy, secret);
    await scene.pay(key).expect(200);
    const random = key.slice(-38);
    const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
    expect(metrics).not.toContain(random);
    for (const table of ['intent', 'intent_body', 'outcome', 'activity', 'ephemeral_key', 'refusal']) {
      expect(JSON.stringify(await scene.database.query(`SELECT * FROM ${table}`))).not.toContain(random);
    }
  });
});
