import { Decimal } from 'decimal.js';
import supertest from '../support/http/supertest';
import { Answer, APP, SharedAccount, startSharedAccount } from '../support/payments/shared-account';

const NOBODYS = '5e3f0b1a-9d0b-4c54-8f55-2f6d0a4f8f33';

/** Money that one client moves to a sub-account of another one is as good as gone. */
describe('sub-accounts of the shared upstream account', () => {
  let on: SharedAccount;

  beforeAll(async () => {
    on = await startSharedAccount();
  });
  afterAll(() => on.close());

  const created = async (key: string) => {
    const answer = await on.post(key, '/sub-account/create', { name: 'Branch', email: on.email() });
    expect(answer.status).toBe(200);
    return (answer.body.data as { uid: string }).uid;
  };
  const TRANSFERS = [
    { path: '/account/transfer', body: (receiver: string) => ({ receiver, amount: 1, wallet: 'airtime' }) },
    { path: '/wallets/transfer', body: (receiver: string) => ({ receiver, valueInUSD: 1, wallet: 'momo' }) },
  ];

  describe.each(TRANSFERS)('POST $path', ({ path, body }) => {
    const transfer = (key: string, receiver: string, headers = {}) =>
      on.post(key, path, body(receiver), headers);

    it('moves money to an own sub-account, and returns 404 for others and for unowned ones', async () => {
      const own = await created(on.shop);
      const before = (await on.arrivals()).length;
      const [others, unknown] = [await transfer(on.rival, own), await transfer(on.rival, NOBODYS)];
      const words = ({ status, body: { call_id: _id, ...rest } }: Answer) => ({ ...rest, status });
      expect(words(others)).toMatchObject({ status: 404, code: 'object_not_found' });
      expect(words(others)).toEqual(words(unknown));
      expect((await on.arrivals()).slice(before)).toEqual([]);
      expect(await on.recordOf(others)).toMatchObject({
        outcome: 'refused',
        refusal: { code: 'object_not_found' },
      });
      expect((await transfer(on.shop, own)).status).toBe(200);
      expect((await transfer(on.whole, own)).status).toBe(200);
    });

    it('replays to the client that moved money, and reveals nothing to others in a preview', async () => {
      const own = await created(on.shop);
      const headers = { 'Idempotency-Key': `moved-${path.replaceAll('/', '-')}` };
      await transfer(on.shop, own, headers);
      expect((await transfer(on.shop, own, headers)).headers['idempotent-replayed']).toBe('true');
      const preview = (key: string) =>
        supertest(on.proxy.url)
          .post(`/v1/preview${path}` as '/v1/preview/account/transfer')
          .set('X-API-Key', key)
          .send(body(own));
      expect((await preview(on.rival).expect(200)).body).toMatchObject({
        refusal: { code: 'object_not_found' },
      });
      expect((await preview(on.shop).expect(200)).body.would).toBe('be_sent');
    });

    it('is checked again when a held transfer is approved', async () => {
      const own = await created(on.shop);
      const limits = { approvalOverUsd: new Decimal('0.5') };
      const name = `cautious${path.replaceAll('/', '-')}`;
      const { key } = await on.clients.create(name, [...APP, 'account'], limits);
      const held = await transfer(key, own);
      expect(held.status).toBe(202);
      await on.clients.update(name, { scopes: APP });
      const { key: approver } = await on.clients.create(`approver${path.replaceAll('/', '-')}`, ['approve']);
      const before = (await on.arrivals()).length;
      const approve = supertest(on.proxy.url).post(`/v1/approvals/${held.body.call_id ?? ''}/approve`);
      const { body: refused } = await approve
        .set('X-API-Key', approver)
        .send({ reason: 'checked' })
        .expect(409);
      expect(refused.code).toBe('no_longer_allowed');
      expect((await on.arrivals()).slice(before)).toEqual([]);
    });
  });

  it('belong to the person whose key created them', async () => {
    const [ada, bob] = [
      (await on.clients.issueKey('shop', { person: 'ada' })).key,
      (await on.clients.issueKey('shop', { person: 'bob' })).key,
    ];
    const hers = await created(ada);
    const asked = TRANSFERS[0]!.body(hers);
    expect((await on.post(bob, '/account/transfer', asked)).body.code).toBe('object_not_found');
    expect((await on.post(ada, '/account/transfer', asked)).status).toBe(200);
    expect((await on.post(on.shop, '/account/transfer', asked)).status).toBe(200);
  });
});
