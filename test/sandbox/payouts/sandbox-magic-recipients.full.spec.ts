import { applyDueChanges } from '../../../src/sandbox/behaviour/sweeper';
import { ledgerOf } from '../../../src/sandbox/wallets/ledger';
import { first } from '../../support/examples/first';
import { eventually } from '../../support/payments/paying';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

/** A time after all changes due within seconds. */
const later = () => new Date(Date.now() + 60_000);

describe('transactions of magic recipients', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  afterEach(() => expectSoundLedger(sandbox.database));

  const payAirtime = (...digits: string[]) => {
    const airtimes = digits.map((last) => ({
      countryToSend: 'Kenya',
      phoneNumber: `+2547${last}`,
      valueInUSD: 1,
    }));
    return sandbox.post('/payouts/airtime', { airtimes });
  };
  const pay = (issueID: string) => sandbox.submit('/pay', { issueID }).expect(303);
  const read = async (id: string) =>
    (await sandbox.get(`/account/transaction?id=${id}`).expect(200)).body.data;
  const history = async (id: string) => {
    const changes = await sandbox.database.statusChange.findMany({
      where: { transactionId: id },
      orderBy: { id: 'asc' },
    });
    return changes.map(({ status }) => status);
  };

  it('follow their statuses, and cost their resulting value', async () => {
    const before = await sandbox.balance('airtime');
    const { body } = await payAirtime(
      '99990101',
      '99990102',
      '99990103',
      '99990104',
      '99990105',
      '99990106',
      '12345678',
    );
    const statuses = body.data!.data.map(({ status }) => status);
    expect(statuses).toEqual(['paid', 'pending', 'pending', 'failed', 'fraud', 'processing_v2', 'paid']);
    expect(body.data?.payouts.map(({ status }) => status)).toEqual([
      'Sent',
      'Sent',
      'Sent',
      'Failed',
      'Failed',
      'Sent',
      'Sent',
    ]);
    expect(body.data?.data[0]?.issueID).toMatch(/_5_\d+$/); // two of the seven cost nothing

    await applyDueChanges(sandbox.database, sandbox.behaviour, later());
    const histories = await Promise.all(body.data!.data.map(({ id }) => history(id)));
    expect(histories).toEqual([
      ['paid', 'failed'],
      ['pending', 'paid'],
      ['pending'],
      ['failed'],
      ['fraud'],
      ['processing_v2'],
      ['paid'],
    ]);
    expect(await sandbox.balance('airtime')).toBe(before - 4); // the reversed one of five was refunded
  });

  it('change when due', async () => {
    const { body } = await payAirtime('99990102').expect(200);
    const { id } = first(body.data.data);
    await sandbox.database.$executeRaw`UPDATE due_changes SET due_at = now() WHERE transaction_id = ${id}`;
    await eventually(async () => (await read(id)).status === 'paid');
  });

  it('are reversed with their fee, once, by any number of sweepers', async () => {
    sandbox.behaviour.feePercent = sandbox.behaviour.feePercent.plus(10);
    const before = await sandbox.balance('airtime');
    const { body } = await payAirtime('99990101').expect(200);
    sandbox.behaviour.feePercent = sandbox.behaviour.feePercent.minus(10);
    expect(body.data.data[0]?.fee).toBe(0.1);
    await Promise.all(
      Array.from({ length: 5 }, () => applyDueChanges(sandbox.database, sandbox.behaviour, later())),
    );
    expect(await sandbox.balance('airtime')).toBe(before);
    expect(await history(first(body.data.data).id)).toEqual(['paid', 'failed']);
  });

  it('stay redeemed after a late reversal', async () => {
    const credits = [{ valueInUSD: 1, email: 'reversed@sandbox.example' }];
    const { body } = await sandbox.post('/payouts/credit', { credits }).expect(200);
    const { id, chiRef } = first(body.data.data);
    await sandbox
      .post('/redeem/airtime', { chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' })
      .expect(200);
    const before = await ledgerOf(sandbox.database);
    await applyDueChanges(sandbox.database, sandbox.behaviour, later());
    expect(await history(id)).toEqual(['paid', 'redeemed']);
    expect(await ledgerOf(sandbox.database)).toEqual(before);
  });

  it('are paid like all others if they start unpaid', async () => {
    const credits = ['failed', 'insufficientFunds', 'transactionFailed'].map((name) => ({
      valueInUSD: 1,
      email: `${name}@sandbox.example`,
    }));
    const { body } = await sandbox.post('/payouts/initiate-credit', { credits }).expect(200);
    await pay(first(body.data.data).issueID);
    for (const { id } of body.data.data) expect(await history(id)).toEqual(['unpaid', 'paid']);
  });

  it('cannot be redeemed under an unknown status word', async () => {
    const credits = [{ valueInUSD: 1, email: 'unheardOf@sandbox.example' }];
    const { body: paid } = await sandbox.post('/payouts/credit', { credits }).expect(200);
    const { chiRef } = first(paid.data.data);
    const redemption = { chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' };
    const { body } = await sandbox.post('/redeem/airtime', redemption).expect(400);
    expect(body.error).toMatch(/is processing_v2, only a paid one can be redeemed/);
  });

  it('are not created for a batch with a recipient that is rejected', async () => {
    const before = await sandbox.database.transaction.count();
    const poor = await payAirtime('12345678', '99990107').expect(400);
    expect(poor.body.error).toBe('insufficient funds in the airtime wallet');
    const refused = await payAirtime('12345678', '99990108').expect(400);
    const error = {
      type: 'Transaction Error',
      code: 'TRANSACTION_FAILED',
      message: 'fail to send bulk airtime',
    };
    expect(refused.body).toEqual({ status: 'error', ...error });
    expect(await sandbox.database.transaction.count()).toBe(before);
  });
});
