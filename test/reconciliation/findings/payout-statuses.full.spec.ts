import { answer } from '../../support/network/fake-upstream';
import { PHONE, startPaying } from '../../support/payments/paying';

const REF = '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11';
const TRANSACTION = { chiRef: REF, status: 'paid', valueInUSD: '2.5', phoneNumber: PHONE };

/** The delivery status of a payout is recorded with its transaction. */
describe('the payouts of an answer', () => {
  it.each([
    ['a list', (payout: object) => [payout]],
    ['a map', (payout: object) => ({ 0: payout, issueID: 'issuer_2.5_1700000000000' })],
  ])('are recorded from %s, with contacts masked', async (_form, form) => {
    const paying = await startPaying();
    const payout = {
      phoneNumber: PHONE.slice(1),
      status: 'Failed',
      errorMessage: `${PHONE} is not a customer`,
    };
    const data = { credits: [TRANSACTION], payouts: form(payout), error: 'None' };
    paying.upstream.behaviour = answer(200, { status: 'success', data });
    const paid = await paying.pay().expect(200);
    // paid and failed: contradictory
    expect((await paying.record(paid)).items).toMatchObject([{ state: 'in_doubt' }]);
    const [outcome] = await paying.proxy.database.query<{ record: string }>('SELECT record FROM outcome');
    const { items } = JSON.parse(outcome?.record ?? '{}') as { items: object[] };
    expect(items).toEqual([
      {
        amount_usd: '2.5',
        payout_error: expect.stringMatching(/^\+254\S*78 is not a customer$/),
        payout_status: 'Failed',
        position: 0,
        status: 'paid',
        upstream_ref: REF,
      },
    ]);
    expect(outcome?.record).not.toContain(PHONE.slice(1));
    const id = paid.headers['x-call-id'] ?? '';
    const told = {
      payout_status: 'Failed',
      payout_error: expect.stringMatching(/^\+254\S*78 is not a customer$/),
    };
    const call = (await paying.proxy.get(paying.app, `/v1/calls/${id}`).expect(200)).body;
    expect(call.items[0]?.upstream).toMatchObject(told);
    const read = (await paying.proxy.get(paying.app, `/v1/payouts/${id}.0`).expect(200)).body;
    expect(read.item.upstream).toMatchObject(told);
    const exported = await paying.proxy
      .get(paying.auditor, '/v1/audit/export?what=items&format=csv')
      .expect(200);
    expect(exported.text).toMatch(
      /,payout_status,payout_error,account,.*\r\n.*,Failed,'?\+254\S*78 is not a customer,main,.*\r\n$/,
    );
    expect(JSON.stringify([call.items[0]?.upstream, read.item.upstream])).not.toContain(PHONE.slice(-7));
    await paying.close();
  });
});
