import { applyDueChanges } from '../../../src/sandbox/behaviour/sweeper';
import { expireOverdue } from '../../../src/sandbox/transactions/status';
import { ledgerOf } from '../../../src/sandbox/wallets/ledger';
import { first } from '../../support/examples/first';
import { eventually } from '../../support/payments/paying';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { SUB_ACCOUNT, TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

/** A time after all changes due within seconds. */
const later = () => new Date(Date.now() + 60_000);

describe("the sandbox's transactions", () => {
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());
  afterEach(() => expectSoundLedger(sandbox.database));

  const initiate = async (...values: number[]) => {
    const credits = values.map((valueInUSD) => ({ valueInUSD, email: 'ada@example.org' }));
    const { body } = await sandbox
      .post('/payouts/initiate-credit', { credits, description: 'Prizes' })
      .expect(200);
    return body.data.data;
  };
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
  const remove = (chiRef: string) => sandbox.post('/account/delete-unpaid-transaction', { chiRef });
  const history = async (id: string) => {
    const changes = await sandbox.database.statusChange.findMany({
      where: { transactionId: id },
      orderBy: { id: 'asc' },
    });
    return changes.map(({ status }) => status);
  };
  const expireAll = () =>
    expireOverdue(sandbox.database, { ...sandbox.behaviour, unpaidExpiresAfterMs: -60_000 });

  it('are unpaid, paid, redeemed, and keep this history', async () => {
    const transaction = first(await initiate(3));
    await pay(transaction.issueID);
    expect(await read(transaction.id)).toMatchObject({
      status: 'paid',
      redeemLink: expect.stringContaining('/redeem?'),
    });
    const redemption = { chiRef: transaction.chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' };
    await sandbox.post('/redeem/airtime', redemption).expect(200);
    expect(await read(transaction.id)).toMatchObject({
      status: 'redeemed',
      redeemData: { type: 'airtime', phoneNumber: '+254712345678', countryToSend: 'Kenya' },
    });
    expect(await history(transaction.id)).toEqual(['unpaid', 'paid', 'redeemed']);
  });

  it('appear in the control interface with their history and their postings', async () => {
    const transaction = first(await initiate(3));
    await pay(transaction.issueID);
    const { chiRef, id, issueID } = transaction;
    await sandbox.submit('/redeem', { chiRef, type: 'other', code: 'solar' }).expect(303);
    const { body } = await sandbox.control('get', `/transactions/${chiRef}`).expect(200);
    const time = expect.stringMatching(/^\d{4}-.*T.*Z$/);
    const own = (type: string, amount: string) => ({ account: 'sandbox', type, amount });
    expect(body).toEqual({
      ...(await read(id)),
      truth: { status: 'redeemed', money: 'redeemed', wallet: 'chi', feePaid: '0', walletChange: '0' },
      history: ['unpaid', 'paid', 'redeemed'].map((status) => ({ status, changedAt: time })),
      postings: [
        {
          description: `payment ${issueID}`,
          date: time,
          entries: [own('outside', '-3'), own('issued credit', '3')],
        },
        {
          description: `redemption ${chiRef}`,
          date: time,
          entries: [own('issued credit', '-3'), own('payouts', '3')],
        },
      ],
    });
    expect((await sandbox.control('get', `/transactions/${id}`).expect(200)).body).toEqual(body);
    const none = await sandbox.control('get', '/transactions/none').expect(404);
    expect(none.body.error).toBe('no transaction has the id or chiRef none');
  });

  it('are hidden from all readers once deleted, and keep their history', async () => {
    const [deleted, second] = await initiate(1, 2);
    const { body } = await remove(deleted!.chiRef).expect(200);
    const { id, issueDate, issueID, chiRef, issuer } = deleted!;
    expect(body.data).toEqual({ id, issueDate, issueID, chiRef, status: 'unpaid', issuer });

    const unknown = `no transaction found for chiRef ${chiRef}`;
    expect((await remove(chiRef).expect(400)).body.error).toBe(unknown);
    expect(await read(id)).toEqual({ error: 'not found for that id' });
    const listed = await sandbox.post(`/account/issue-id-transactions?issueID=${issueID}`).expect(200);
    expect(listed.body.data.map((one) => one.id)).toEqual([second?.id]);
    await pay(issueID);
    expect(await history(id)).toEqual(['unpaid', 'deleted']);
    expect((await sandbox.control('get', `/transactions/${id}`).expect(200)).body.status).toBe('deleted');
    expect((await sandbox.database.transaction.findUniqueOrThrow({ where: { id } })).status).toBe('deleted');
  });

  it('cannot be deleted once paid or expired', async () => {
    const paid = first(await initiate(1));
    await pay(paid.issueID);
    expect((await remove(paid.chiRef).expect(400)).body.error).toMatch(
      /is paid, only an unpaid one can be deleted/,
    );
    const expired = first(await initiate(1));
    await expireAll();
    expect((await remove(expired.chiRef).expect(400)).body.error).toMatch(/is expired, only an unpaid/);
  });

  it('expire when they are read, without the sweeper, and then cannot be paid', async () => {
    const transaction = first(await initiate(4));
    const before = await ledgerOf(sandbox.database);
    sandbox.behaviour.unpaidExpiresAfterMs = -60_000;
    await pay(transaction.issueID);
    sandbox.behaviour.unpaidExpiresAfterMs = 1e9;
    expect(await read(transaction.id)).toMatchObject({ status: 'expired' });
    expect(await ledgerOf(sandbox.database)).toEqual(before);
    expect(await history(transaction.id)).toEqual(['unpaid', 'expired']);
  });

  it('are listed completely, newest first, including transfers', async () => {
    const [older, newer] = await initiate(1, 2);
    const moved = await sandbox.post('/account/transfer', { receiver: SUB_ACCOUNT, amount: 1 }).expect(200);
    const all = (await sandbox.post('/account/transactions').expect(200)).body.data;
    expect(all.slice(0, 3).map(({ id }) => id)).toEqual([moved.body.data.data.tnxID, newer?.id, older?.id]);
    expect(all[0]).toMatchObject({ type: 'transfer', receiver: SUB_ACCOUNT });
    expect(all[1]?.meta).toEqual({ description: 'Prizes' });
    const visible = await sandbox.database.transaction.count({ where: { status: { not: 'deleted' } } });
    expect(all).toHaveLength(visible);
    const unknown = await sandbox.post('/account/issue-id-transactions?issueID=none').expect(200);
    expect(unknown.body).toEqual({ status: 'success', data: { error: 'not found for that id' } });
  });

  it('follow the statuses of magic recipients, and cost their resulting value', async () => {
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

  it('change by themselves when due', async () => {
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

  it('are like all others for magic recipients if they start unpaid', async () => {
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

  it('are not created for a batch with a rejected recipient', async () => {
    const before = await sandbox.database.transaction.count();
    const poor = await payAirtime('12345678', '99990107').expect(400);
    expect(poor.body.error).toBe('insufficient funds in the airtime wallet');
    const refused = await payAirtime('12345678', '99990108').expect(400);
    const told = {
      type: 'Transaction Error',
      code: 'TRANSACTION_FAILED',
      message: 'fail to send bulk airtime',
    };
    expect(refused.body).toEqual({ status: 'error', ...told });
    expect(await sandbox.database.transaction.count()).toBe(before);
  });

  it('reject unsupported countries and networks, in any case and with any accents', async () => {
    const momo = (countryToSend: string, momoCode: string) =>
      sandbox.post('/payouts/mobile-money', {
        momos: [{ countryToSend, momoCode, phoneNumber: '+254712345678', valueInUSD: 1, reference: '' }],
      });
    await momo("COTE D'IVOIRE", 'MTN').expect(200);
    expect((await momo('Nigeria', 'MPS').expect(400)).body.error).toMatch(
      /^momos\[0\]\.momoCode must be a code of/,
    );
    const airtime = { countryToSend: 'Atlantis', phoneNumber: '+254712345678', valueInUSD: 1 };
    const { body } = await sandbox.post('/payouts/airtime', { airtimes: [airtime] }).expect(400);
    expect(body.error).toMatch(/^airtimes\[0\]\.countryToSend must be a country of/);
  });
});
