import { reset } from '../../support/network/fake-upstream';
import { answersWith, LyingLedger, Transaction } from '../../support/reconciliation/lying-ledger';

/** An upstream whose answers name more transactions than payouts. */
describe('a transaction beyond the payouts of the call whose answer names it', () => {
  let ledger: LyingLedger;

  beforeAll(async () => {
    const never = { followUpEverySeconds: 0, resolverEverySeconds: 0 };
    ledger = await LyingLedger.start({ duplicateGuard: false, ...never });
  });
  afterAll(() => ledger.paying.close());
  beforeEach(() => (ledger.transactions = []));

  const surplus = async (phone: string, more: Partial<Transaction> = {}) => {
    const [one, other] = [
      ledger.shown({ phoneNumber: phone }),
      ledger.shown({ phoneNumber: phone, ...more }),
    ];
    const call = await ledger.pay(answersWith(one, other), phone);
    return { call, one, other };
  };

  it('raises an alarm that names its twin, and is of no other payout that is like it', async () => {
    const before = await ledger.contradictions();
    const { call, one, other } = await surplus('+254712345686');
    const lost = await ledger.pay(reset, '+254712345686');
    ledger.transactions = [one, other];
    await ledger.round();
    expect(await ledger.statesOf(call, lost)).toEqual(['paid', 'in_doubt']);
    expect((await ledger.contradictions()).slice(before.length)).toEqual(['surplus']);
    const act = (await ledger.acts('transaction_contradicted')).at(-1);
    expect(act).toMatchObject({ call_id: call });
    expect(JSON.parse(act?.after ?? '')).toMatchObject({ upstream_ref: other.chiRef });
    expect(act?.reason).toContain(`${one.chiRef} of payout ${call}.0`);
    ledger.transactions.push(ledger.shown({ phoneNumber: one.phoneNumber })); // of the lost call
    await ledger.round();
    expect(await ledger.stateOf(lost)).toBe('paid');
  });

  it('raises an alarm before any listing shows it', async () => {
    const before = await ledger.contradictions();
    await surplus('+254712345687');
    await ledger.followUp(); // of an empty listing
    expect((await ledger.contradictions()).slice(before.length)).toEqual(['surplus']);
    await ledger.followUp();
    expect((await ledger.contradictions()).slice(before.length)).toEqual(['surplus']);
  });

  it('is of the payout whose lost answer it is, if it contradicts every item of the call', async () => {
    const lost = await ledger.pay(reset, '+254712345689');
    const { one, other } = await surplus('+254712345688', { phoneNumber: '+254712345689' });
    ledger.transactions = [one, other];
    await ledger.round();
    expect(await ledger.stateOf(lost)).toBe('paid');
  });

  it('is of no other payout while its place in the call is unclear', async () => {
    const phoneNumber = '+254712345691';
    const rows = [1, 1].map((valueInUSD) => ledger.shown({ phoneNumber, valueInUSD }));
    await ledger.pay(answersWith(...rows), phoneNumber, 1.004, 1.003);
    const lost = await ledger.pay(reset, phoneNumber, 1);
    ledger.transactions = rows;
    await ledger.round();
    expect(await ledger.stateOf(lost)).toBe('in_doubt');
  });

  it('is no second one if the answer repeats a row', async () => {
    const before = await ledger.contradictions();
    const one = ledger.shown({ phoneNumber: '+254712345690' });
    await ledger.pay(answersWith(one, one), one.phoneNumber);
    await ledger.followUp();
    expect((await ledger.contradictions()).slice(before.length)).toEqual([]);
  });
});
