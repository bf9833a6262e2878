import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { airtime, DEMO, startSandbox, SUB_ACCOUNT, TestSandbox } from '../../support/sandbox/sandbox';

const item = () => ({ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1 });

/** Entries without an operation, and the callers' descriptions of payments. */
describe("the sandbox's wallets", () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  beforeEach(() => sandbox.control('post', '/reset').expect(204));
  afterEach(() => expectSoundLedger(sandbox.database, { statusesTwice: true }));
  afterAll(() => sandbox.close());

  const pay = async (...airtimes: object[]) =>
    (await sandbox.post('/payouts/airtime', { airtimes }).expect(200)).body.data.data;
  const truth = async (chiRef: string) =>
    (await sandbox.control('get', `/transactions/${chiRef}` as '/transactions/{id}').expect(200)).body;
  const entries = async (type: string) => {
    const { body } = await sandbox.get('/wallets/list').expect(200);
    const wallet = body.data.find((one) => one.type === type);
    return wallet?.transactions.map(({ amount, description }) => [amount, description]);
  };

  it('are charged a later fee, which the transaction omits', async () => {
    const [paid] = await pay(item());
    const { body } = await sandbox.control('post', '/entries', {
      type: 'fee',
      chiRef: paid!.chiRef,
      valueInUSD: 0.25,
    });
    const description = `fee ${paid?.chiRef}`;
    expect(body).toEqual({ type: 'fee', account: DEMO, wallet: 'airtime', valueInUSD: '0.25', description });
    expect((await entries('airtime'))?.[0]).toEqual([-0.25, description]);
    const shown = await truth(paid!.chiRef);
    expect([shown.fee, shown.truth.feePaid, shown.truth.walletChange]).toEqual([undefined, '0.25', '-1.25']);
    const reversal = { status: 'reversed' };
    await sandbox
      .control('patch', `/transactions/${paid?.chiRef}` as '/transactions/{id}', reversal)
      .expect(200);
    expect(await sandbox.balance('airtime')).toBe(10_000);
  });

  it('list top-ups, withdrawals and fees without a transaction', async () => {
    const entry = { account: DEMO, wallet: 'momo', valueInUSD: 5 };
    const add = (more: object) => sandbox.control('post', '/entries', { ...entry, ...more });
    await add({ type: 'top-up', valueInUSD: 50 }).expect(201);
    await add({ type: 'withdrawal', description: 'Card 1234' }).expect(201);
    await add({ type: 'fee', valueInUSD: 0.5, description: 'Monthly' }).expect(201);
    expect((await entries('momo'))?.slice(0, 3)).toEqual([
      [-0.5, 'fee Monthly'],
      [-5, 'withdrawal Card 1234'],
      [50, 'top-up'],
    ]);
    expect((await add({ type: 'withdrawal', valueInUSD: 1e6 }).expect(400)).body.error).toMatch(
      /insufficient funds/,
    );
    expect((await add({ type: 'top-up', account: 'none' }).expect(400)).body.error).toMatch(
      /account none does not exist/,
    );
    const unpaid = await sandbox
      .control('post', '/entries', { type: 'gift', valueInUSD: 0, chiRefs: [] })
      .expect(400);
    expect(unpaid.body.faults).toHaveLength(5);
    const { body: wallets } = await sandbox.control('get', `/wallets?account=${DEMO}`).expect(200);
    expect(wallets.map(({ type, balance }) => [type, balance])).toEqual([
      ['chi', '10000'],
      ['momo', '10044.5'],
      ['airtime', '10000'],
    ]);
    expect(wallets[1]?.entries[0]).toMatchObject({
      amount: '-0.5',
      newBalance: '10044.5',
      description: 'fee Monthly',
    });
  });

  it("pay transactions that show the caller's description", async () => {
    const marks = { reference: 'ours-1', description: 'October', meta: { run: 7 } };
    const whole = { reference: 'batch', description: 'Salaries', meta: { run: 1 } };
    const body = { airtimes: [{ ...item(), ...marks }, item()], ...whole };
    const [own, rest] = (await sandbox.post('/payouts/airtime', body).expect(200)).body.data.data;
    expect(own).toMatchObject({ reference: 'ours-1', meta: { description: 'October', run: 7 } });
    expect(rest).toMatchObject({ reference: 'batch', meta: { description: 'Salaries', run: 1 } });
    await sandbox.post('/account/transfer', { receiver: SUB_ACCOUNT, amount: 1, ...whole }).expect(200);
    await sandbox
      .post('/payouts/credit', { credits: [{ valueInUSD: 1, email: 'a@b.c', ...marks }] })
      .expect(200);
    await sandbox.post('/send', { credit: [{ valueInUSD: 1, email: 'a@b.c' }], ...marks }).expect(200);
    const momo = { ...item(), momoCode: 'MPS', reference: '' };
    await sandbox.post('/payouts/mobile-money', { momos: [momo], reference: 'batch' }).expect(200);
    const { body: listed } = await sandbox.post('/account/transactions').expect(200);
    expect(listed.data.map(({ reference }) => reference)).toEqual([
      'batch',
      'ours-1',
      'ours-1',
      'batch',
      'batch',
      'ours-1',
    ]);
    const refused = await sandbox.post('/payouts/airtime', { ...airtime(), reference: 5 }).expect(400);
    expect(refused.body.error).toBe('reference must be a string');
  });
});
