import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Decimal } from 'decimal.js';
import { applyDueChanges } from '../../../src/sandbox/behaviour/sweeper';
import { first } from '../../support/examples/first';
import { eventually } from '../../support/payments/paying';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { AIRTIME, startSandbox, SUB_ACCOUNT, TestSandbox } from '../../support/sandbox/sandbox';

const later = () => new Date(Date.now() + 60_000);
const item = (phoneNumber = '+254712345678', valueInUSD = 1) => ({
  countryToSend: 'Kenya',
  phoneNumber,
  valueInUSD,
});

/** Later changes of answered payments. */
describe('an answered payment', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  beforeEach(() => sandbox.control('post', '/reset').expect(204));
  afterEach(() => expectSoundLedger(sandbox.database, { statusesTwice: true }));
  afterAll(() => sandbox.close());

  const pay = async (...airtimes: object[]) =>
    (await sandbox.post('/payouts/airtime', { airtimes }).expect(200)).body.data.data;
  const truth = async (chiRef: string) =>
    (await sandbox.control('get', `/transactions/${chiRef}` as '/transactions/{id}').expect(200)).body;
  const change = (chiRef: string, body: object) =>
    sandbox.control('patch', `/transactions/${chiRef}` as '/transactions/{id}', body);
  const entries = async (type: string) => {
    const { body } = await sandbox.get('/wallets/list').expect(200);
    const wallet = body.data.find((one) => one.type === type);
    return wallet?.transactions.map(({ amount, description }) => [amount, description]);
  };
  const passTime = () => applyDueChanges(sandbox.database, sandbox.behaviour, later());

  it.each([
    ['failsLater', 'failed', 'failure'],
    ['reversesLater', 'reversed', 'reversal'],
    ['refundsLater', 'refunded', 'refund'],
  ])('%s: is listed as %s later, and its money returns as a %s', async (fault, status, word) => {
    sandbox.behaviour.feePercent = new Decimal(10);
    await sandbox.fault({ fault, operation: AIRTIME, nth: 1, ms: 50 });
    const [paid] = await pay(item());
    expect(paid).toMatchObject({ status: 'paid', fee: 0.1 });
    // On a slow machine, the money may have returned already.
    expect(await entries('airtime')).toContainEqual([-1.1, `payout ${paid?.issueID}`]);
    await eventually(async () => (await truth(paid!.chiRef)).status === status);
    const listed = await sandbox.post('/account/transactions').expect(200);
    expect(listed.body.data).toMatchObject([{ id: paid?.id, status }]);
    expect((await entries('airtime'))?.[0]).toEqual([1.1, `${word} ${paid?.chiRef}`]);
    expect((await truth(paid!.chiRef)).truth).toEqual({
      status,
      money: 'kept',
      wallet: 'airtime',
      feePaid: '0',
      walletChange: '0',
    });
    expect((await pay(item()))[0]?.status).toBe('paid');
    sandbox.behaviour.feePercent = new Decimal(0);
  });

  it('changes later only for the magic recipients of its batch', async () => {
    const transactions = await pay(
      item('+254799990222'),
      item(),
      item('+254799990221'),
      item('+254799990104'),
    );
    await passTime();
    const statuses = await Promise.all(transactions.map(async ({ chiRef }) => (await truth(chiRef)).status));
    expect(statuses).toEqual(['reversed', 'paid', 'failed', 'failed']);
    expect(await sandbox.balance('airtime')).toBe(9_999);
  });

  it('changes after a successful redemption only', async () => {
    const credits = [{ valueInUSD: 2, email: 'ada@example.org' }];
    const paid = first((await sandbox.post('/payouts/credit', { credits }).expect(200)).body.data.data);
    await sandbox.fault({ fault: 'reversesLater', operation: 'POST /redeem/airtime' });
    const { phoneNumber, countryToSend } = item();
    await sandbox.post('/redeem/airtime', { chiRef: paid.chiRef, phoneNumber, countryToSend }).expect(200);
    await passTime();
    const { history, truth: now } = await truth(paid.chiRef);
    expect(history.map(({ status }) => status)).toEqual(['paid', 'redeemed', 'reversed']);
    expect(now).toMatchObject({ money: 'kept', walletChange: '0' });
    expect(await sandbox.balance('chi')).toBe(10_000);
  });

  it('changes after the configured delay', async () => {
    await sandbox.control('patch', '/settings', { magicMs: 0, laterMs: 0 }).expect(200);
    const [reversed, late] = await pay(item('+254799990222'), item('+254799990102'));
    expect([reversed?.status, late?.status]).toEqual(['paid', 'pending']);
    await eventually(async () => (await truth(reversed!.chiRef)).status === 'reversed');
    const [own] = await pay(item('+254799990101'));
    await eventually(async () => (await truth(own!.chiRef)).status === 'failed');
  });

  it('can lose its fee', async () => {
    await sandbox.control('patch', '/settings', { feePercent: 10, returnsFee: false }).expect(200);
    const [paid] = await pay(item('+254799990222'));
    await passTime();
    expect(await sandbox.balance('airtime')).toBe(9_999.9);
    expect((await truth(paid!.chiRef)).truth).toMatchObject({
      money: 'kept',
      feePaid: '0.1',
      walletChange: '-0.1',
    });
    const { body } = await change(paid!.chiRef, { status: 'paid' }).expect(200);
    // not charged twice
    expect(body.truth).toMatchObject({ money: 'paid', feePaid: '0.1', walletChange: '-1.1' });
    expect(
      (await change(paid!.chiRef, { status: 'failed', returnsFee: true }).expect(200)).body.truth
        .walletChange,
    ).toBe('0');
  });

  it('keeps its status if its wallet has spent the money', async () => {
    await sandbox.fault({ fault: 'reversesLater', operation: 'POST /wallets/transfer', nth: 1 });
    const moved = await sandbox
      .post('/wallets/transfer', { receiver: SUB_ACCOUNT, valueInUSD: 5 })
      .expect(200);
    const id = moved.body.data.data.tnxID ?? '';
    const withdrawal = { type: 'withdrawal', account: SUB_ACCOUNT, wallet: 'chi', valueInUSD: 1 };
    await sandbox.control('post', '/entries', withdrawal).expect(201);
    await passTime();
    expect((await truth(id)).status).toBe('paid');
    expect(await sandbox.database.dueChange.count()).toBe(0);
    const refused = await change(id, { status: 'reversed' }).expect(400);
    expect(refused.body.error).toBe('insufficient funds in the chi wallet');
    expect((await truth(id)).status).toBe('paid');
  });

  it('changes at once to any word, and moves its money by known words', async () => {
    const [paid] = await pay(item());
    const steps = [
      ['pending', '-1'],
      ['SETTLED_T2', '-1'],
      ['FAILED', '0'],
      ['constructor', '0'],
      ['SUCCESSFUL', '-1'],
      ['expired', '0'],
      ['redeemed', '-1'],
      ['refunded', '0'],
      ['paid', '-1'],
    ];
    for (const [status = '', walletChange] of steps) {
      const { body } = await change(paid!.chiRef, { status }).expect(200);
      expect([body.status, body.truth.walletChange]).toEqual([status, walletChange]);
      expect((await sandbox.get(`/account/transaction?id=${paid?.id}`)).body.data).toMatchObject({ status });
    }
    expect(await sandbox.balance('airtime')).toBe(9_999);
    expect((await entries('airtime'))?.map(([, description]) => String(description).split(' ')[0])).toEqual([
      'correction',
      'refund',
      'redemption',
      'expiry',
      'correction',
      'failure',
      'payout',
      'opening',
    ]);
  });

  it('accepts a status that contradicts its money', async () => {
    const [paid] = await pay(item());
    const lie = await change(paid!.id, { status: 'failed', money: 'paid' }).expect(200);
    expect(lie.body).toMatchObject({ status: 'failed', truth: { money: 'paid', walletChange: '-1' } });
    const other = await change(paid!.id, { money: 'kept' }).expect(200);
    expect(other.body).toMatchObject({ status: 'failed', truth: { money: 'kept', walletChange: '0' } });
  });

  it('changes as a transfer, a collection and a credit of a link', async () => {
    const moved = await sandbox.post('/account/transfer', { receiver: SUB_ACCOUNT, amount: 5 }).expect(200);
    await change(moved.body.data.data.tnxID ?? '', { status: 'reversed' }).expect(200);
    expect(await sandbox.balance('chi')).toBe(10_000);
    const collection = { amount: 500, currency: 'KES', phone_number: '+254712345678', fullname: 'Ada' };
    const more = { country: 'Kenya', email: 'ada@example.org', tx_ref: 'a' };
    const collected = await sandbox
      .post('/collections/mobile-money/collect', { ...collection, ...more })
      .expect(200);
    expect(await sandbox.balance('momo')).toBe(10_000 + Number(collected.body.data.valueInUSD));
    await change(collected.body.data.chiRef, { status: 'refunded' }).expect(200);
    expect(await sandbox.balance('momo')).toBe(10_000);
    const credits = [{ valueInUSD: 2, email: 'ada@example.org' }];
    const sent = first(
      (await sandbox.post('/payouts/initiate-credit', { credits }).expect(200)).body.data.data,
    );
    for (const status of ['redeemed', 'paid', 'redeemed', 'refunded'])
      await change(sent.chiRef, { status }).expect(200);
    expect((await truth(sent.chiRef)).truth).toMatchObject({ money: 'kept', walletChange: '0' });
  });

  it('sends an event for each change, if events are enabled', async () => {
    const heard: { status: string }[] = [];
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        heard.push(JSON.parse(text) as { status: string });
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const words = { events: { reversed: 'ROLLED_BACK' } };
    await sandbox.control('patch', '/settings', { events: { url }, words }).expect(200);
    const [paid] = await pay(item());
    await change(paid!.chiRef, { status: 'reversed' }).expect(200);
    await eventually(() => heard.length === 2);
    expect(heard.map(({ status }) => status)).toEqual(['paid', 'ROLLED_BACK']);
    await sandbox.control('patch', '/settings', { events: { url: '' } }).expect(200);
    server.close();
  });

  it('rejects changes of unknown transactions and invalid changes', async () => {
    expect((await change('none', { status: 'paid' }).expect(404)).body.error).toMatch(
      /no transaction has the id/,
    );
    const [paid] = await pay(item());
    const wrong = { status: 'deleted', money: 'gone', returnsFee: 1, colour: 'red' };
    expect((await change(paid!.chiRef, wrong).expect(400)).body.faults).toEqual([
      'status must be a word of up to 50 characters other than deleted',
      'money must be one of kept, paid',
      'returnsFee must be true or false',
      'colour is unknown; the fields are status, money, returnsFee',
    ]);
    await change(paid!.chiRef, {}).expect(400);
    expect((await truth(paid!.chiRef)).status).toBe('paid');
  });
});
