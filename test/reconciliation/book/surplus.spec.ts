import { INestApplicationContext } from '@nestjs/common';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer, Behaviour, reset } from '../../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../../support/payments/paying';
import { Transaction } from '../../support/reconciliation/lying-ledger';

/** An upstream whose answers name more transactions than payouts. */
describe('a transaction beyond the payouts of the call whose answer names it', () => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let listed: Transaction[] = [];
  let count = 0;

  beforeAll(async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    paying = await startPaying({ resolverQuietSeconds: 3_600, ...never });
    worker = await paying.proxy.startWorker();
  });
  afterAll(() => paying.close());
  beforeEach(() => (listed = []));

  const shown = (more: Partial<Transaction> = {}): Transaction => ({
    id: `id-${(count += 1)}`,
    chiRef: `ref-${count}`,
    issueID: `issue-${count}`,
    issueDate: new Date().toISOString(),
    type: 'airtime',
    status: 'paid',
    phoneNumber: '+254712345678',
    valueInUSD: 2.5,
    ...more,
  });
  const answersWith = (...data: Transaction[]): Behaviour =>
    answer(200, { status: 'success', data: { data, error: 'None' } });
  const pay = async (payout: Behaviour, phoneNumber: string, ...usd: number[]) => {
    paying.upstream.behaviour = (request, response, socket) =>
      request.url.endsWith('/account/transactions')
        ? answer(200, { status: 'success', data: listed })(request, response, socket)
        : payout(request, response, socket);
    const amounts = usd.length > 0 ? usd : [2.5];
    const airtimes = amounts.map((valueInUSD) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD }));
    const { headers } = await paying.proxy.post(paying.app, '/payouts/airtime', { airtimes });
    return headers['x-call-id'] ?? '';
  };
  const follow = () => worker.get(FollowUpService).runOnce();
  const stateOf = async (call: string) =>
    (await paying.proxy.get(paying.app, `/v1/payouts/${call}.0`).expect(200)).body.state;
  const acts = () =>
    paying.proxy.database.query<{ call_id: string; reason: string; after: string; kind: string }>(
      `SELECT call_id, reason, after, after::json ->> 'kind' AS kind FROM activity
        WHERE action = 'transaction_contradicted' ORDER BY id`,
    );
  const alarms = async () => (await acts()).map(({ kind }) => kind);
  const lastAlarm = async () => (await acts()).at(-1);
  const surplus = async (phone: string, more: Partial<Transaction> = {}) => {
    const [one, other] = [shown({ phoneNumber: phone }), shown({ phoneNumber: phone, ...more })];
    const call = await pay(answersWith(one, other), phone);
    return { call, one, other };
  };
  it('raises an alarm that names its twin, and is of no other payout that is like it', async () => {
    const before = await alarms();
    const { call, one, other } = await surplus('+254712345686');
    const lost = await pay(reset, '+254712345686');
    listed = [one, other];
    await worker.get(ResolverService).runOnce();
    expect([await stateOf(call), await stateOf(lost)]).toEqual(['paid', 'in_doubt']);
    expect((await alarms()).slice(before.length)).toEqual(['surplus']);
    const act = await lastAlarm();
    expect(act).toMatchObject({ call_id: call });
    expect(JSON.parse(act?.after ?? '')).toMatchObject({ upstream_ref: other.chiRef });
    expect(act?.reason).toContain(`${one.chiRef} of payout ${call}.0`);
    listed.push(shown({ phoneNumber: one.phoneNumber })); // of the lost call
    await worker.get(ResolverService).runOnce();
    expect(await stateOf(lost)).toBe('paid');
  });

  it('raises an alarm before any listing shows it', async () => {
    const before = await alarms();
    await surplus('+254712345687');
    await follow(); // of an empty listing
    expect((await alarms()).slice(before.length)).toEqual(['surplus']);
    await follow();
    expect((await alarms()).slice(before.length)).toEqual(['surplus']);
  });

  it('is of the payout whose lost answer it is, if it contradicts every item of the call', async () => {
    const lost = await pay(reset, '+254712345689');
    const { one, other } = await surplus('+254712345688', { phoneNumber: '+254712345689' });
    listed = [one, other];
    await worker.get(ResolverService).runOnce();
    expect(await stateOf(lost)).toBe('paid');
  });

  it('is of no other payout while its place in the call is unclear', async () => {
    const phoneNumber = '+254712345691';
    const rows = [1, 1].map((valueInUSD) => shown({ phoneNumber, valueInUSD }));
    await pay(answersWith(...rows), phoneNumber, 1.004, 1.003);
    const lost = await pay(reset, phoneNumber, 1);
    listed = rows;
    await worker.get(ResolverService).runOnce();
    expect(await stateOf(lost)).toBe('in_doubt');
  });

  it('is no second one if the answer repeats a row', async () => {
    const before = await alarms();
    const one = shown({ phoneNumber: '+254712345690' });
    await pay(answersWith(one, one), one.phoneNumber);
    await follow();
    expect((await alarms()).slice(before.length)).toEqual([]);
  });
});
