import { Decimal } from 'decimal.js';
import supertest from '../support/http/supertest';
import {
  APP,
  redemption,
  SharedAccount,
  startSharedAccount,
  Transaction,
} from '../support/payments/shared-account';

/** A redemption above the threshold waits, and the owner of the credit may change before the approval. */
describe('a held redemption', () => {
  let on: SharedAccount;
  let approver: string;
  let clients = 0;

  beforeAll(async () => {
    on = await startSharedAccount();
    approver = (await on.clients.create('approver', ['approve'])).key;
  });
  afterAll(() => on.close());

  const holding = async (scopes = APP) => {
    const { name, key } = await on.clients.create(`cautious-${(clients += 1)}`, scopes);
    return { name, key, hold: () => on.clients.update(name, { approvalOverUsd: new Decimal('0.1') }) };
  };
  const redeem = async (key: string, credit: Transaction) => {
    const held = await on.post(key, '/redeem/airtime', redemption(credit));
    expect(held.status).toBe(202);
    return held.body.call_id ?? '';
  };
  const approve = (id: string) =>
    supertest(on.proxy.url)
      .post(`/v1/approvals/${id}/approve`)
      .set('X-API-Key', approver)
      .send({ reason: 'checked' });
  const notAllowed = async (id: string) => {
    const { body } = await on.proxy.get(approver, `/v1/approvals/${id}`).expect(200);
    return body.not_allowed?.code;
  };

  it("is sent if the credit is the client's own", async () => {
    const { key, hold } = await holding();
    const own = await on.credit(key);
    await hold();
    const id = await redeem(key, own);
    expect(await notAllowed(id)).toBeUndefined();
    expect((await approve(id).expect(200)).body.outcome).toBe('succeeded');
  });

  it("is sent if only the upstream's list attributes the link to the client", async () => {
    const { key, hold } = await holding();
    const own = await on.unnamed(key);
    await hold();
    const id = await redeem(key, own);
    // The sandbox refuses to redeem an unpaid credit.
    expect((await approve(id).expect(200)).body.outcome).toBe('unknown'); // until it is verified
  });

  it('is refused and not sent after its client loses access to the whole account', async () => {
    const others = await on.credit(on.shop);
    const { name, key, hold } = await holding([...APP, 'account']);
    await hold();
    const id = await redeem(key, others);
    await on.clients.update(name, { scopes: APP });
    const before = (await on.arrivals()).length;
    expect(await notAllowed(id)).toBe('object_not_found');
    const { body } = await approve(id).expect(409);
    expect(body).toMatchObject({
      code: 'no_longer_allowed',
      detail: expect.stringMatching(/\(object_not_found\): no call of the client created its transaction/),
    });
    expect((await on.arrivals()).slice(before)).toEqual([]);
    await on.clients.update(name, { scopes: [...APP, 'account'] });
    expect(await notAllowed(id)).toBeUndefined();
    expect((await approve(id).expect(200)).body.outcome).toBe('succeeded');
  });

  it('is judged by the owner of the requesting key', async () => {
    const { name, key, hold } = await holding();
    const ada = (await on.clients.issueKey(name, { person: 'ada' })).key;
    const own = await on.credit(key);
    const hers = await on.credit(ada);
    await hold();
    expect((await on.post(ada, '/redeem/airtime', redemption(own))).body.code).toBe('object_not_found');
    const id = await redeem(ada, hers);
    const bob = await on.clients.create('approver-in-person', ['approve']);
    const { key: personal } = await on.clients.issueKey(bob.name, { person: 'bob' });
    const decide = supertest(on.proxy.url).post(`/v1/approvals/${id}/approve`).set('X-API-Key', personal);
    expect((await decide.send({ reason: 'checked' }).expect(200)).body.outcome).toBe('succeeded');
  });
});
