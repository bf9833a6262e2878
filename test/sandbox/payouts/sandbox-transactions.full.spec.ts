import { expireOverdue } from '../../../src/sandbox/transactions/status';
import { ledgerOf } from '../../../src/sandbox/wallets/ledger';
import { first } from '../../support/examples/first';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { SUB_ACCOUNT, TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

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

  it('keep their history from unpaid to redeemed', async () => {
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
    expect(listed.body.data.map((transaction) => transaction.id)).toEqual([second?.id]);
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

  it('expire at a read without the sweeper, and then cannot be paid', async () => {
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

  it('reject unsupported countries and networks, in any spelling', async () => {
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
