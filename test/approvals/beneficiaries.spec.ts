import { ClientsService } from '../../src/access/clients/clients.service';
import { RegisterScene, startRegistering } from '../support/access/registering';
import supertest from '../support/http/supertest';
import { ApprovalScene } from '../support/payments/approving';

describe('a recipient register', () => {
  let api: RegisterScene;
  let approving: ApprovalScene;

  beforeAll(async () => {
    api = await startRegistering();
    approving = api.approving;
  });
  afterAll(() => approving.close());
  beforeEach(() => approving.reset());

  it('pays only allowed recipients, and names each other item by its pointer', async () => {
    const { name, key } = await api.client({ beneficiariesOnly: true });
    const [allowed, stranger] = [api.newPhone(), api.newPhone()];
    await api.allow(name, allowed);
    await api.pay(key, [allowed]).expect(200);
    const { body } = await api.pay(key, [stranger, allowed, stranger]).expect(403);
    expect(body).toMatchObject({ code: 'recipient_not_allowed', errors_total: 2, action: 'ask' });
    const pointers = ['/airtimes/0/phoneNumber', '/airtimes/2/phoneNumber'];
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(JSON.stringify(body)).not.toContain(stranger.slice(5));
    expect(approving.upstream.received).toHaveLength(1);
    const preview = supertest(approving.proxy.url).post('/v1/preview/payouts/airtime').set('X-API-Key', key);
    const previewed = (await preview.send(api.airtimes(allowed, stranger)).expect(200)).body;
    expect(previewed).toMatchObject({ would: 'be_refused', refusal: { code: 'recipient_not_allowed' } });
    expect(previewed.errors).toMatchObject([{ pointer: '/airtimes/1/phoneNumber' }]);
  });

  it.each([
    ['+254 (700) 090-001', '/payouts/airtime', airtimesOf('+254700090001')],
    ['00254700090001', '/payouts/airtime', airtimesOf('+254700090001')],
    ['Ada@Example.COM', '/payouts/credit', { credits: [{ email: 'ada@example.com', valueInUSD: 1 }] }],
    [
      'ada@example.com',
      '/payouts/credit',
      { credits: [{ email: 'ADA@example.com', twitter: '@x1', valueInUSD: 1 }] },
    ],
    ['@Ada_1', '/payouts/credit', { credits: [{ twitter: '@aDA_1', valueInUSD: 1 }] }],
    [
      '@ada_2',
      '/payouts/credit',
      { credits: [{ email: 'other@example.com', twitter: '@ADA_2', valueInUSD: 1 }] },
    ],
    [
      'ada@example.com',
      '/payouts/initiate-credit',
      { credits: [{ email: 'ada@example.com', valueInUSD: 1 }], description: 'x' },
    ],
    [
      'receiver:sub-account-9',
      '/account/transfer',
      { receiver: 'sub-account-9', amount: 1, wallet: 'airtime' },
    ],
    ['+254700090001', '/wallets/transfer', { receiver: '+254700090001', valueInUSD: 1, wallet: 'momo' }],
    [
      'receiver:+254700090001',
      '/wallets/transfer',
      { receiver: '+254700090001', valueInUSD: 1, wallet: 'momo' },
    ],
    [
      '+254700090001',
      '/redeem/airtime',
      { chiRef: 'c-1', phoneNumber: '+254700090001', countryToSend: 'Kenya' },
    ],
  ] as const)('refuses %s in POST %s once it is blocked', async (recipient, path, body) => {
    const { name, key } = await api.client();
    await approving.proxy.post(key, path, body).expect(200);
    await api.block(name, recipient);
    expect((await approving.proxy.post(key, path, body).expect(403)).body.code).toBe('recipient_not_allowed');
    expect(approving.upstream.received).toHaveLength(1);
    await api.change(name, { list: 'blocked', remove: [recipient] }).expect(200);
    await approving.proxy.post(key, path, body).expect(200);
  });

  it('refuses a blocked recipient even if it is allowed, for that client only', async () => {
    const [one, other] = [await api.client({ beneficiariesOnly: true }), await api.client()];
    const phone = api.newPhone();
    await api.allow(one.name, phone);
    await api.block(one.name, phone);
    await api.pay(one.key, [phone]).expect(403);
    await api.pay(other.key, [phone]).expect(200);
  });

  it('takes effect on every instance with its commit, despite cached callers', async () => {
    const { name, key } = await api.client();
    const phone = api.newPhone();
    for (const proxy of [approving.proxy, approving.second]) await api.pay(key, [phone], proxy).expect(200);
    await api.block(name, phone);
    for (const proxy of [approving.second, approving.proxy]) await api.pay(key, [phone], proxy).expect(403);
    expect(approving.upstream.received).toHaveLength(2);
  });

  it('pays nothing admitted after the block, under any number of racing calls', async () => {
    const { id, name, key } = await api.client();
    const phone = api.newPhone();
    await api.pay(key, [phone]).expect(200);
    const both = [approving.proxy, approving.second];
    const racing = Array.from({ length: 40 }, (_, n) =>
      api.pay(key, [phone], both[n % 2]).then(({ status }) => status),
    );
    await api.block(name, phone);
    const late = await Promise.all(
      both.map((proxy) => api.pay(key, [phone], proxy).then(({ status }) => status)),
    );
    expect(late).toEqual([403, 403]);
    const statuses = await Promise.all(racing);
    expect(statuses.filter((status) => status !== 200 && status !== 403)).toEqual([]);
    const [row] = await approving.query(
      `SELECT count(*)::integer AS paid, bool_and(i.recorded_at < a.acted_at) AS before
       FROM intent i, activity a WHERE i.client_id = $1 AND a.target_client_id = $1
         AND a.action = 'beneficiary_added'`,
      [id],
    );
    const paid = 1 + statuses.filter((status) => status === 200).length;
    expect([row, approving.upstream.received.length]).toEqual([{ paid, before: true }, paid]);
  });

  it('holds payouts to a new recipient for the cooling-off period, and then sends them', async () => {
    const { name, key } = await api.client({ beneficiariesOnly: true, beneficiaryCoolOffSeconds: 86_400 });
    const [fresh, old] = [api.newPhone(), api.newPhone()];
    await api.allow(name, fresh, old);
    await approving.query(
      `UPDATE beneficiary SET registered_at = registered_at - interval '1 day' WHERE id = (
         SELECT max(id::text)::uuid FROM beneficiary)`,
    );
    await api.pay(key, [old]).expect(200);
    const held = api.idOf(await api.pay(key, [old, fresh]).expect(202));
    const { approval } = (
      await approving.proxy.get(approving.approver.key, `/v1/approvals/${held}`).expect(200)
    ).body;
    expect(approval).toMatchObject({ held_for: 'new_beneficiary' });
    expect(approving.upstream.received).toHaveLength(1);
    await approving.decide('approve', held).expect(200);
    expect(approving.upstream.received).toHaveLength(2);
    const link = { credits: [{ email: 'new@example.com', valueInUSD: 1 }], description: 'x' };
    await api.allow(name, 'new@example.com');
    await approving.proxy.post(key, '/payouts/initiate-credit', link).expect(200); // a link pays no recipient
    await api.allow(name, fresh); // does not restart the period
    await approving.query(`UPDATE beneficiary SET registered_at = registered_at - interval '1 day'`);
    await api.pay(key, [fresh]).expect(200);
  });

  it('checks a held call again when it is approved', async () => {
    const { name, key } = await api.client({ beneficiariesOnly: true, beneficiaryCoolOffSeconds: 60 });
    const phone = api.newPhone();
    await api.allow(name, phone);
    const held = api.idOf(await api.pay(key, [phone]).expect(202));
    for (const [list, action] of [
      ['blocked', 'add'],
      ['allowed', 'remove'],
    ] as const) {
      await api.change(name, { list, [action]: [phone] }).expect(200);
      const { body: forecast } = await approving.proxy
        .get(approving.approver.key, `/v1/approvals/${held}`)
        .expect(200);
      const errors = [{ pointer: '/airtimes/0/phoneNumber' }];
      expect(forecast.not_allowed).toMatchObject({ code: 'recipient_not_allowed', errors });
      const { body } = await approving.decide('approve', held).expect(409);
      expect(body).toMatchObject({
        code: 'no_longer_allowed',
        errors: [{ pointer: '/airtimes/0/phoneNumber' }],
      });
      if (list === 'blocked') await api.change(name, { list, remove: [phone] }).expect(200);
    }
    expect(approving.upstream.received).toEqual([]);
    await api.allow(name, phone);
    const { body: pending } = await approving.proxy.get(approving.approver.key, '/v1/approvals').expect(200);
    expect(pending.approvals.find(({ id }) => id === held)).toMatchObject({ not_allowed: null });
    await approving.decide('approve', held).expect(200);
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('pays a recipient without an amount only if it is allowed, and replays earlier responses', async () => {
    const { name, key } = await api.client();
    await api
      .credit(key, { email: 'ada@example.com', valueInUSD: undefined })
      .set('Idempotency-Key', 'k')
      .expect(200);
    await approving.proxy.app
      .get(ClientsService, { strict: false })
      .update(name, { beneficiariesOnly: true });
    await api
      .credit(key, { email: 'ada@example.com', valueInUSD: undefined })
      .set('Idempotency-Key', 'k')
      .expect(200);
    await api
      .credit(key, { email: 'ada@example.com', valueInUSD: undefined })
      .set('Idempotency-Key', 'k2')
      .expect(403);
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('adds no database query for a client without a register', async () => {
    const { key } = await api.client();
    await approving.query('BEGIN');
    await approving.query('LOCK TABLE beneficiary IN ACCESS EXCLUSIVE MODE'); // a reader would wait
    await api.pay(key, [api.newPhone()]).expect(200);
    await approving.query('ROLLBACK');
  });
});

function airtimesOf(phoneNumber: string) {
  return { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: 1 }] };
}
