import { first } from '../../support/examples/first';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { airtime, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

describe('accounts of the sandbox', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  afterEach(() => expectSoundLedger(sandbox.database));

  const open = async (body: object) => (await sandbox.control('post', '/accounts', body).expect(201)).body;
  const as = (apiKey: string) => ({
    get: <const Path extends string>(path: Path) =>
      askSandbox(sandbox.url).get(`/api/v0.1${path}`).set('X-API-Key', apiKey),
    post: <const Path extends string>(path: Path, body: object) =>
      askSandbox(sandbox.url).post(`/api/v0.1${path}`).set('X-API-Key', apiKey).send(body),
  });

  it('have their own key, wallets and transactions', async () => {
    const { id, apiKey } = await open({ name: 'Second shop', openingBalance: 2.5 });
    const second = as(apiKey);
    const { data: wallets } = (await second.get('/wallets/list').expect(200)).body;
    expect(wallets.map(({ balance, owner }) => [balance, owner])).toEqual(Array(3).fill([2.5, id]));

    const before = await sandbox.balance('airtime');
    const { data } = (await second.post('/payouts/airtime', airtime(2)).expect(200)).body;
    await second.post('/payouts/airtime', airtime(2)).expect(400); // 0.5 is left
    expect(await sandbox.balance('airtime')).toBe(before);

    const { id: transaction } = first(data.data);
    const { body: own } = await second.get(`/account/transaction?id=${transaction}`).expect(200);
    expect(own.data.id).toBe(transaction);
    expect((await sandbox.get(`/account/transaction?id=${transaction}`)).body.data).toEqual({
      error: 'not found for that id',
    });
  });

  it('start empty by default, and can receive transfers', async () => {
    const { id, apiKey } = await open({ name: 'Empty' });
    await as(apiKey).post('/payouts/airtime', airtime(1)).expect(400);
    await sandbox.post('/wallets/transfer', { receiver: id, valueInUSD: 1, wallet: 'airtime' }).expect(200);
    await as(apiKey).post('/payouts/airtime', airtime(1)).expect(200);
  });

  it.each([
    [{}, /name must be/],
    [{ name: 'a', openingBalance: -1 }, /openingBalance must be/],
    [{ name: 'a', owner: 'me' }, /owner is unknown/],
    [[], /must be an object/],
  ])('are not opened with %j', async (account, text) => {
    const { body } = await sandbox.control('post', '/accounts', account).expect(400);
    expect(body.error).toMatch(text);
  });
});
