import { first } from '../../support/examples/first';
import { startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

const item = (valueInUSD: number) => ({ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD });
const momo = (valueInUSD: number) => ({ ...item(valueInUSD), momoCode: 'MPS', reference: '' });

describe('lists with lies', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  beforeEach(() => sandbox.control('post', '/reset').expect(204));
  afterAll(() => sandbox.close());

  const settle = (settings: object) => sandbox.control('patch', '/settings', settings).expect(200);
  const payAirtime = async (valueInUSD: number) =>
    first(
      (await sandbox.post('/payouts/airtime', { airtimes: [item(valueInUSD)] }).expect(200)).body.data.data,
    );
  const payMomo = (valueInUSD: number) =>
    sandbox.post('/payouts/mobile-money', { momos: [momo(valueInUSD)] }).expect(200);
  const listed = async () => (await sandbox.post('/account/transactions').expect(200)).body.data;
  const values = async () => (await listed()).map(({ valueInUSD }) => valueInUSD);
  const wallet = async (type: string) => {
    const { body } = await sandbox.get('/wallets/list').expect(200);
    const { balance, transactions } = body.data.find((one) => one.type === type)!;
    return { balance, amounts: transactions.map(({ amount }) => amount) };
  };
  const trueValues = async () =>
    (await sandbox.control('get', '/transactions').expect(200)).body.map(({ valueInUSD }) => valueInUSD);

  it('are short, empty, or without some types', async () => {
    const { issueID } = await payAirtime(1);
    await payMomo(2);
    await payAirtime(3);
    await settle({ lists: { transactions: { newest: 2 } } });
    expect(await values()).toEqual([3, 2]);
    await settle({ lists: { transactions: { newest: null, withoutTypes: ['momo'] } } });
    expect(await values()).toEqual([3, 1]);
    await settle({ lists: { transactions: { newest: 0 } } });
    expect(await values()).toEqual([]);
    const batch = await sandbox.post(`/account/issue-id-transactions?issueID=${issueID}`).expect(200);
    expect(batch.body.data).toEqual({ error: 'not found for that id' });
    expect(await wallet('airtime')).toEqual({ balance: 9_996, amounts: [-3, -1, 10_000] });
    expect(await trueValues()).toEqual([3, 2, 1]);
  });

  it('keep the true balance with false entries', async () => {
    await payAirtime(1);
    await payAirtime(2);
    await settle({ lists: { entries: { newest: 1 } } });
    expect(await wallet('airtime')).toEqual({ balance: 9_997, amounts: [-2] });
    await settle({ lists: { entries: { newest: 0 } } });
    expect(await wallet('airtime')).toEqual({ balance: 9_997, amounts: [] });
    await settle({ lists: { entries: { newest: null, withoutTypes: ['payout'] } } });
    expect(await wallet('airtime')).toEqual({ balance: 9_997, amounts: [10_000] });
    expect(await values()).toEqual([2, 1]);
    const { body } = await sandbox.control('get', '/wallets').expect(200);
    expect(body[2]?.entries.map(({ amount }) => amount)).toEqual(['-2', '-1', '10000']);
  });

  it('freeze at an instant, with the statuses of that time', async () => {
    const paid = await payAirtime(1);
    await settle({ lists: { transactions: { frozenAt: 'now' }, entries: { frozenAt: 'now' } } });
    await sandbox.control('patch', `/transactions/${paid.chiRef}` as '/transactions/{id}', {
      status: 'reversed',
    });
    await payAirtime(2);
    expect((await listed()).map(({ status, valueInUSD }) => [status, valueInUSD])).toEqual([['paid', 1]]);
    expect(await wallet('airtime')).toEqual({ balance: 9_999, amounts: [-1, 10_000] });
    const read = await sandbox.get(`/account/transaction?id=${paid.id}`).expect(200);
    expect(read.body.data).toMatchObject({ status: 'reversed' });

    const { body } = await settle({ lists: { entries: { frozenAt: null } } });
    expect(body.lists?.transactions?.frozenAt).toMatch(/^\d{4}-.*Z$/);
    expect(await wallet('airtime')).toEqual({ balance: 9_998, amounts: [-2, 1, -1, 10_000] });
    await settle({ lists: { transactions: { frozenAt: '2020-01-01T00:00:00Z' } } });
    expect(await listed()).toEqual([]);
    await settle({ lists: { transactions: { frozenAt: null } } });
    expect((await listed()).map(({ status }) => status)).toEqual(['paid', 'reversed']);
  });

  it('show words of their own', async () => {
    const words = { listed: { paid: 'SETTLED_T2' }, answered: { paid: 'ACCEPTED' } };
    await settle({ words, quirks: { newStatusWords: true } });
    const { id, status } = await payAirtime(1);
    expect(status).toBe('ACCEPTED');
    expect((await listed()).map((one) => one.status)).toEqual(['SETTLED_T2']);
    const read = await sandbox.get(`/account/transaction?id=${id}`).expect(200);
    expect(read.body.data).toMatchObject({ status: 'SETTLED_T2' });
    const { body } = await sandbox.control('get', '/transactions').expect(200);
    expect(body[0]?.truth.status).toBe('paid');
    await settle({ words: { listed: {} } });
    expect((await listed()).map((one) => one.status)).toEqual(['SUCCESSFUL']);
    expect((await payAirtime(1)).status).toBe('ACCEPTED');
  });

  it('reject invalid values', async () => {
    const wrong = {
      words: { listed: { paid: '' }, shown: {} },
      lists: {
        transactions: { newest: -1, withoutTypes: ['gift'] },
        entries: { frozenAt: 'soon' },
        wallets: {},
      },
    };
    const { body } = await sandbox.control('patch', '/settings', wrong).expect(400);
    expect(body.faults).toEqual([
      'words.listed must be an object of texts without blanks around them',
      'words.shown is unknown; the fields are listed, answered, events',
      'lists.wallets is unknown; the fields are transactions, entries',
      'lists.transactions.newest must be a whole number from 0 to 1000000 or null',
      'lists.transactions.withoutTypes must be an array of any of airtime, momo, credit, transfer, payment',
      'lists.entries.frozenAt must be "now", an ISO 8601 time or null',
    ]);
  });
});
