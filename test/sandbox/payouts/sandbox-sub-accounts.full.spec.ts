import { first } from '../../support/examples/first';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import {
  airtime,
  API_KEY,
  DEMO,
  startSandbox,
  SUB_ACCOUNT,
  TestSandbox,
} from '../../support/sandbox/sandbox';
import { askSandbox, DataOf } from '../../support/sandbox/sandbox-answers';

const NORTH = SUB_ACCOUNT;
const SOUTH = '00000000-0000-4000-8000-000000000003';
const NOT_FOUND = { error: 'not found for that id' };
const PHONE = { phoneNumber: '+254712345678', countryToSend: 'Kenya' };
const CREDITS = { credits: [{ valueInUSD: 2, email: 'ada@example.org' }] };
const COLLECTION = {
  amount: 1295.0084,
  currency: 'KES',
  phone_number: PHONE.phoneNumber,
  fullname: 'Ada',
  country: 'Kenya',
  email: 'ada@example.org',
  tx_ref: 'a',
};

describe('the field subAccount of the sandbox', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control('post', '/reset').expect(204));
  afterEach(() => expectSoundLedger(sandbox.database));

  const as = (subAccount: unknown) => ({
    get: <const Path extends string>(path: Path, query: object = {}) =>
      sandbox.get(path).query({ ...query, subAccount }),
    post: <const Path extends string>(path: Path, body: object = {}) =>
      sandbox.post(path, { ...body, subAccount }),
  });
  const north = as(NORTH);
  const topUp = async (valueInUSD: number, account = NORTH) => {
    for (const wallet of ['chi', 'momo', 'airtime'])
      await sandbox.control('post', '/entries', { type: 'top-up', account, wallet, valueInUSD }).expect(201);
  };
  const balances = (wallets: DataOf<'GET /wallets/list'>) => wallets.map(({ balance }) => balance);
  const own = async () => balances((await sandbox.get('/wallets/list').expect(200)).body.data);
  const norths = async () => balances((await north.get('/wallets/list').expect(200)).body.data);
  const listed = async (request: ReturnType<typeof list>) =>
    (await request.expect(200)).body.data.map(({ chiRef }) => chiRef);
  const list = () => sandbox.post('/account/transactions');

  it('pays from the wallets of the sub-account, which issues the transactions', async () => {
    await topUp(10);
    const momos = [{ ...PHONE, valueInUSD: 3, momoCode: 'MPS', reference: '' }];
    const { data } = (await north.post('/payouts/airtime', airtime(1)).expect(200)).body;
    expect(first(data.data)).toMatchObject({ issuer: NORTH, issueID: expect.stringMatching(`^${NORTH}_`) });
    await north.post('/payouts/credit', CREDITS).expect(200);
    await north.post('/payouts/mobile-money', { momos }).expect(200);
    expect(await norths()).toEqual([8, 7, 9]);
    await north.post('/payouts/airtime', airtime(9.5)).expect(400, {
      status: 'error',
      error: 'insufficient funds in the airtime wallet',
    });
    expect(await own()).toEqual([10_000, 10_000, 10_000]);
  });

  it('starts with empty wallets', async () => {
    const account = { name: 'Branch', email: 'branch@example.org' };
    const { id } = (await sandbox.post('/sub-account/create', account).expect(200)).body.data;
    for (const subAccount of [NORTH, id]) {
      await as(subAccount).post('/payouts/airtime', airtime(1)).expect(400);
      await sandbox
        .post('/account/transfer', { receiver: subAccount, amount: 1, wallet: 'airtime' })
        .expect(200);
      await as(subAccount).post('/payouts/airtime', airtime(1)).expect(200);
    }
  });

  it('lists, reads and finds only the transactions of the sub-account', async () => {
    await topUp(10);
    const { data: its } = (await north.post('/payouts/airtime', airtime(1)).expect(200)).body.data;
    const { data: parents } = (await sandbox.post('/payouts/airtime', airtime(1)).expect(200)).body.data;
    const callers = [
      { ask: north, sees: first(its), misses: first(parents) },
      { ask: as(undefined), sees: first(parents), misses: first(its) },
    ];
    for (const { ask, sees, misses } of callers) {
      expect(await listed(ask.post('/account/transactions'))).toEqual([sees.chiRef]);
      const read = async (id: string) =>
        (await ask.get('/account/transaction', { id }).expect(200)).body.data;
      expect(await read(sees.id)).toMatchObject({ chiRef: sees.chiRef });
      expect(await read(misses.id)).toEqual(NOT_FOUND);
      const batch = async (issueID: string) =>
        (await ask.post(`/account/issue-id-transactions?issueID=${issueID}`).expect(200)).body.data;
      expect(await batch(sees.issueID)).toMatchObject([{ chiRef: sees.chiRef }]);
      expect(await batch(misses.issueID)).toEqual(NOT_FOUND);
    }
    expect(await listed(as(SOUTH).post('/account/transactions'))).toEqual([]);
  });

  it('deletes, redeems and verifies only transactions issued by the sub-account', async () => {
    await topUp(10);
    const issue = async (ask: typeof north) => ({
      unpaid: first((await ask.post('/payouts/initiate-credit', CREDITS).expect(200)).body.data.data),
      credit: first((await ask.post('/payouts/credit', CREDITS).expect(200)).body.data.data),
      payment: (await ask.post('/collections/mobile-money/initiate', COLLECTION).expect(200)).body.data,
    });
    const others = [as(undefined), as(SOUTH)];
    const { unpaid, credit, payment } = await issue(north);
    for (const other of others) {
      await other.post('/account/delete-unpaid-transaction', { chiRef: unpaid.chiRef }).expect(400);
      await other.post('/redeem/airtime', { chiRef: credit.chiRef, ...PHONE }).expect(400);
      const { body } = await other.post('/collections/mobile-money/verify', { id: payment.id }).expect(200);
      expect(body.data).toEqual(NOT_FOUND);
    }
    await north.post('/account/delete-unpaid-transaction', { chiRef: unpaid.chiRef }).expect(200);
    await north.post('/redeem/airtime', { chiRef: credit.chiRef, ...PHONE }).expect(200);
    await north.post('/collections/mobile-money/verify', { id: payment.id }).expect(200);
    expect(await norths()).toEqual([8, 20, 10]);

    const theirs = await issue(others[0]!);
    await north.post('/account/delete-unpaid-transaction', { chiRef: theirs.unpaid.chiRef }).expect(400);
    await north.post('/redeem/airtime', { chiRef: theirs.credit.chiRef, ...PHONE }).expect(400);
    expect(await own()).toEqual([9_998, 10_000, 10_000]);
  });

  it('transfers to sub-accounts of the account, and between wallets to the account', async () => {
    await topUp(10);
    const { data } = (await north.post('/account/transfer', { receiver: SOUTH, amount: 4 }).expect(200)).body;
    expect(data.data).toMatchObject({ sender: NORTH, receiver: SOUTH, valueInUSD: 4 });
    await north.post('/wallets/transfer', { receiver: DEMO, valueInUSD: 1 }).expect(200);
    expect(await norths()).toEqual([5, 10, 10]);
    expect(await own()).toEqual([10_001, 10_000, 10_000]);

    const { id: stranger } = (await sandbox.control('post', '/accounts', { name: 'Stranger' }).expect(201))
      .body;
    for (const receiver of [NORTH, DEMO, stranger])
      await north.post('/account/transfer', { receiver, amount: 1 }).expect(400);
    expect(await norths()).toEqual([5, 10, 10]);
  });

  it('denies sub-accounts of a sub-account', async () => {
    const account = { name: 'Branch', email: 'branch@example.org' };
    const { body } = await north.post('/sub-account/create', account).expect(400);
    expect(body.error).toBe(`Account with id ${NORTH} is a sub-account and can have none`);
    expect((await north.get('/sub-account/list').expect(200)).body.data).toEqual([]);
    expect((await north.get('/sub-account/get', { id: SOUTH }).expect(200)).body.data).toEqual(NOT_FOUND);
    expect((await sandbox.get('/sub-account/list').expect(200)).body.data).toHaveLength(2);
  });

  it('looks up only the wallets of the sub-account', async () => {
    const ids = async (request: ReturnType<typeof north.get<'/wallets/list'>>) =>
      (await request.expect(200)).body.data.map(({ id }) => id);
    const lookUp = async (walletID: string) =>
      (await north.post('/wallets/lookup', { walletID }).expect(200)).body.data;
    const its = first(await ids(north.get('/wallets/list')));
    expect(await lookUp(its)).toMatchObject({ id: its, owner: NORTH });
    for (const other of [as(undefined), as(SOUTH)])
      expect(await lookUp(first(await ids(other.get('/wallets/list'))))).toEqual(NOT_FOUND);
  });

  it.each(['/wallets/list', '/account/transactions'] as const)(
    'is accepted in body or query of POST %s',
    async (path) => {
      await topUp(10);
      await sandbox.post('/payouts/airtime', airtime(1)).expect(200);
      const post = (query: object) =>
        askSandbox(sandbox.url).post(`/api/v0.1${path}`).set('X-API-Key', API_KEY).query(query).expect(200);
      const data = async (request: PromiseLike<{ body: { data: unknown } }>) => (await request).body.data;
      const its = await data(north.post(path).expect(200));
      expect(await data(post({ subAccount: NORTH }))).toEqual(its);
      expect(await data(post({}))).toEqual(await data(sandbox.post(path).expect(200)));
      expect(its).not.toEqual(await data(post({})));
    },
  );

  it('is accepted in body or query of an operation with a query', async () => {
    await topUp(10);
    const { data } = (await north.post('/payouts/airtime', airtime(1)).expect(200)).body.data;
    const { issueID } = first(data);
    const path = `/account/issue-id-transactions?issueID=${issueID}` as const;
    for (const request of [north.post(path), sandbox.post(`${path}&subAccount=${NORTH}`)])
      expect((await request.expect(200)).body.data).toMatchObject([{ issueID }]);
  });

  it('is unchanged in the ground truth, under the account of the key', async () => {
    await topUp(10);
    await north.post('/payouts/airtime', airtime(1)).expect(200);
    const [request] = await sandbox.requests('POST /payouts/airtime');
    expect(request).toMatchObject({
      account: DEMO,
      body: { ...airtime(1), subAccount: NORTH },
      processed: true,
    });
  });
});
