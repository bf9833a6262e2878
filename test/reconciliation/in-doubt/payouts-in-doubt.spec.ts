import { v7 as uuidv7 } from 'uuid';
import supertest from '../../support/http/supertest';
import { answer } from '../../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../../support/payments/paying';

const BODY = { credits: [{ email: 'ada@example.com', valueInUSD: 2 }] };

/** The upstream answers with success, and with an unknown status or an invalid fee. */
describe('a payout in doubt after a success', () => {
  let paying: PaymentScene;
  let client: { id: string; key: string };
  let approver: string;

  beforeAll(async () => {
    paying = await startPaying({ checkCoverage: false, duplicateGuard: true });
    approver = (await paying.proxy.client('approver', 'approve')).key;
  });
  afterAll(() => paying.close());
  beforeEach(async () => {
    client = await paying.proxy.client(`app-${uuidv7().slice(-12)}`, 'pay', 'read');
  });

  const behave = (transaction: object) => {
    const data = [
      { chiRef: uuidv7(), id: uuidv7(), email: 'ada@example.com', valueInUSD: 2, ...transaction },
    ];
    paying.upstream.behaviour = answer(200, { status: 'success', data: { data, error: 'None' } });
  };
  const pay = (key = uuidv7()) =>
    paying.proxy.post(client.key, '/payouts/credit', BODY).set('Idempotency-Key', key);
  const spent = async () => {
    const sum = 'SELECT sum(usd)::text AS usd FROM spending WHERE client_id = $1';
    return (await paying.proxy.database.query<{ usd: string }>(sum, [client.id]))[0]?.usd;
  };

  it('blocks the same payment, whatever the key, until it is settled', async () => {
    behave({ status: 'AWAITING_REVIEW' });
    const { headers } = await pay('first').expect(200);
    const id = headers['x-call-id'] ?? '';
    const refused = await pay().expect(409);
    expect(refused.body).toMatchObject({
      code: 'suspected_duplicate',
      first_call_id: id,
      first_call_state: 'unknown',
    });
    expect((await pay('first').expect(200)).headers['idempotent-replayed']).toBe('true');
    expect(paying.upstream.received.filter(({ url }) => url.endsWith('/payouts/credit'))).toHaveLength(1);
    await supertest(paying.proxy.url)
      .post(`/v1/calls/${id}/resolution`)
      .set('X-API-Key', approver)
      .send({ outcome: 'not_executed', reason: 'the provider stopped it', payouts: [`${id}.0`] })
      .expect(200);
    await pay().expect(200);
  });

  describe('after an error that names its transaction', () => {
    const settle = (id: string, body: object) =>
      supertest(paying.proxy.url)
        .post(`/v1/calls/${id}/resolution`)
        .set('X-API-Key', approver)
        .send({ reason: 'the provider says so', ...body });
    const payInDoubt = async () => {
      const data = [
        { chiRef: uuidv7(), id: uuidv7(), email: 'ada@example.com', valueInUSD: 2, status: 'paid' },
      ];
      paying.upstream.behaviour = answer(500, { status: 'error', error: 'it failed', data });
      return (await pay().expect(500)).headers['x-call-id'] ?? '';
    };

    it('accepts a settlement that agrees', async () => {
      const id = await payInDoubt();
      const { body } = await settle(id, { outcome: 'confirmed' }).expect(200);
      expect(body).toMatchObject({ outcome: 'confirmed' });
      expect(await spent()).toBe('2.000000');
    });

    it('accepts a settlement that differs only as a correction', async () => {
      const id = await payInDoubt();
      for (const outcome of ['not_executed', 'failed']) {
        const { body: refused } = await settle(id, { outcome }).expect(409);
        expect(refused).toMatchObject({
          code: 'not_in_doubt',
          detail: expect.stringContaining(`"supersedes": "${id}"`),
        });
      }
      const { body } = await settle(id, { outcome: 'not_executed', supersedes: id }).expect(200);
      expect(body).toMatchObject({ outcome: 'not_executed' });
      expect(await spent()).toBe('0.000000');
    });
  });

  it.each([
    ['1e14', '2.000000'], // exceeds every column of sums
    ['-3', '2.000000'],
    ['0.0000001', '2.000001'],
    ['0.25', '2.250000'],
  ])('counts a fee of %s as a total of %s', async (fee, usd) => {
    behave({ status: 'paid', fee: Number(fee) });
    await pay().expect(200);
    expect(await spent()).toBe(usd);
  });
});
