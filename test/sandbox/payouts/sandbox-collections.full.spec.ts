import { applyDueChanges } from '../../../src/sandbox/behaviour/sweeper';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

/** The operations that charge a payer. */
type CollectionOperation = 'collect' | 'initiate';

describe('collections of the sandbox', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());
  afterEach(() => expectSoundLedger(sandbox.database));

  const collection = {
    amount: 1295.0084,
    currency: 'KES',
    phone_number: '+254712345678',
    fullname: 'Ada Example',
    country: 'Kenya',
    email: 'ada@example.org',
    tx_ref: 'order-17',
  };
  const read = async (id: string) =>
    (await sandbox.get(`/account/transaction?id=${id}`).expect(200)).body.data;
  const path = <const Name extends string>(name: Name) => `/collections/mobile-money/${name}` as const;

  it('collects at once, at the local rate', async () => {
    const before = await sandbox.balance('momo');
    const { body } = await sandbox.post(path('collect'), collection).expect(200);
    expect(body.data).toMatchObject({
      type: 'payment',
      status: 'paid',
      valueInUSD: 10,
      reference: 'order-17',
      meta: { amount: 1295.0084, currency: 'KES', fullname: 'Ada Example', tx_ref: 'order-17' },
    });
    expect((await sandbox.balance('momo')) - before).toBe(10);
    expect(await read(body.data.id)).toEqual(body.data);
  });

  it('credits an initiated collection once, by concurrent verifications', async () => {
    const before = await sandbox.balance('momo');
    const { body } = await sandbox.post(path('initiate'), { ...collection, amount: '1295.0084' }).expect(200);
    const initiated = body.data;
    expect(initiated.status).toBe('pending');
    expect(await sandbox.balance('momo')).toBe(before);
    const verify = () => sandbox.post(path('verify'), { id: initiated.id }).expect(200);
    const answers = await Promise.all([verify(), verify(), verify(), verify()]);
    expect(answers.map(({ body }) => body.data.status)).toEqual(Array(4).fill('paid'));
    expect(await sandbox.balance('momo')).toBe(before + 10);
    expect((await sandbox.post(path('verify'), { id: 'nobody' }).expect(200)).body.data).toEqual({
      error: 'not found for that id',
    });
  });

  const paidBy = async (name: CollectionOperation, digits: string) => {
    const before = await sandbox.balance('momo');
    const request = sandbox.post(path(name), { ...collection, phone_number: `+2547${digits}` });
    const { data: payment } = (await request.expect(200)).body;
    const state = async () => [(await read(payment.id)).status, (await sandbox.balance('momo')) - before];
    return { payment, state, verify: () => sandbox.post(path('verify'), { id: payment.id }).expect(200) };
  };

  // State of each magic payer's collection: at first, when due, and after its verification.
  it.each<[CollectionOperation, string, string, string, [string, number], [string, number]]>([
    ['collect', 'reversed', '99990101', 'paid', ['paid', 10], ['paid', 10]],
    ['collect', 'late', '99990102', 'pending', ['paid', 10], ['paid', 10]],
    ['collect', 'pending', '99990103', 'pending', ['pending', 0], ['paid', 10]],
    ['collect', 'failed', '99990104', 'failed', ['failed', 0], ['failed', 0]],
    ['collect', 'fraud', '99990105', 'fraud', ['fraud', 0], ['fraud', 0]],
    ['collect', 'unheardOf', '99990106', 'paid', ['paid', 10], ['paid', 10]],
    ['initiate', 'late', '99990102', 'pending', ['paid', 10], ['paid', 10]],
    ['initiate', 'pending', '99990103', 'pending', ['pending', 0], ['paid', 10]],
    ['initiate', 'failed', '99990104', 'pending', ['pending', 0], ['failed', 0]],
    ['initiate', 'fraud', '99990105', 'pending', ['pending', 0], ['fraud', 0]],
  ])('follows %s from a payer with the outcome %s', async (name, _outcome, digits, first, due, verified) => {
    const { payment, state, verify } = await paidBy(name, digits);
    expect(payment.status).toBe(first);
    await applyDueChanges(sandbox.database, sandbox.behaviour, new Date(Date.now() + 60_000));
    expect(await state()).toEqual(due);
    await verify();
    expect(await state()).toEqual(verified);
  });

  it('credits a late payment once, even after an early verification', async () => {
    const { state, verify } = await paidBy('initiate', '99990102');
    await verify();
    await applyDueChanges(sandbox.database, sandbox.behaviour, new Date(Date.now() + 60_000));
    expect(await state()).toEqual(['paid', 10]);
  });

  it.each<CollectionOperation>(['collect', 'initiate'])(
    'rejects %s from magic payers that refuse',
    async (name) => {
      const from = async (digits: string) =>
        (await sandbox.post(path(name), { ...collection, phone_number: `+2547${digits}` }).expect(400)).body;
      expect((await from('99990107')).error).toBe("insufficient funds in the payer's mobile money account");
      expect(await from('99990108')).toMatchObject({
        code: 'TRANSACTION_FAILED',
        message: 'fail to collect mobile money',
      });
    },
  );

  it.each([
    ['amount', 0, 'amount must be a positive number'],
    ['amount', 0.00001, 'amount is worth less than 0.000001 USD'],
    ['currency', 'XXX', /^currency must be one of/],
    ['phone_number', '0712', /^phone_number must be a phone number/],
    ['email', 'ada', 'email must be an e-mail address'],
    ['fullname', '', 'fullname is required'],
    ['tx_ref', undefined, 'tx_ref is required'],
    ['country', 5, 'country must be a string'],
  ])('rejects the %s %p', async (name, value, text) => {
    const { body } = await sandbox.post(path('collect'), { ...collection, [name]: value }).expect(400);
    expect(body.error).toMatch(text);
  });
});
