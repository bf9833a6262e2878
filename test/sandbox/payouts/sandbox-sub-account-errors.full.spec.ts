import { methodOf } from '../../../src/operations/catalogue/catalogue';
import { ledgerOf } from '../../../src/sandbox/wallets/ledger';
import { ExampleRequest, DOCUMENTED, OBSERVED } from '../../support/http/interface';
import { airtime, DEMO, startSandbox, SUB_ACCOUNT, TestSandbox } from '../../support/sandbox/sandbox';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

describe('an invalid subAccount', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control('post', '/reset').expect(204));

  const state = async () => ({
    ledger: await ledgerOf(sandbox.database),
    accounts: await sandbox.database.account.count(),
    transactions: await sandbox.database.transaction.count(),
  });
  /** Sends the example of an operation with this `subAccount`. */
  const askAs = (subAccount: unknown, { operation, path, body }: ExampleRequest) =>
    methodOf(operation) === 'GET'
      ? sandbox.get(path).query({ subAccount })
      : sandbox.post(path, { ...body, subAccount });

  it.each([...DOCUMENTED, ...OBSERVED])('is rejected in $operation, and does nothing', async (request) => {
    const stranger = (await sandbox.control('post', '/accounts', { name: 'Stranger' }).expect(201)).body;
    const theirs = await askSandbox(sandbox.url)
      .post('/api/v0.1/sub-account/create')
      .set('X-API-Key', stranger.apiKey)
      .send({ name: 'Theirs', email: 'theirs@example.org' })
      .expect(200);
    const before = await state();
    for (const id of [
      '00000000-0000-4000-8000-00000000ffff',
      DEMO,
      stranger.id,
      theirs.body.data.id,
      SUB_ACCOUNT.slice(1),
      '',
    ]) {
      // POST /send answers every rejection with 500, as the provider documents.
      const { body } = await askAs(id, request).expect(request.operation === 'POST /send' ? 500 : 400);
      expect(body).toEqual({ status: 'error', error: `Account with id ${id} not found` });
    }
    expect(await state()).toEqual(before);
    const arrivals = await sandbox.requests(request.operation);
    expect(arrivals.slice(-6).map(({ processed }) => processed)).toEqual(Array(6).fill(false));
  });

  it.each<[unknown, string]>([
    [null, 'null'],
    [2, '2'],
    [true, 'true'],
    [[SUB_ACCOUNT], 'object'],
    [{ toString: 1 }, 'object'],
    ['\0', '\0'],
    ['\ud800', '\ud800'],
    [SUB_ACCOUNT.toUpperCase().replace('0002', '000A'), '00000000-0000-4000-8000-00000000000A'],
    [`${SUB_ACCOUNT} `, `${SUB_ACCOUNT} `],
  ])('is rejected as %j', async (subAccount, text) => {
    const before = await state();
    const { body } = await sandbox.post('/payouts/airtime', { ...airtime(1), subAccount }).expect(400);
    expect(body).toEqual({ status: 'error', error: `Account with id ${text} not found` });
    expect(await state()).toEqual(before);
  });

  it('is rejected twice in a query', async () => {
    const { body } = await sandbox
      .get(`/wallets/list?subAccount=${SUB_ACCOUNT}&subAccount=${SUB_ACCOUNT}`)
      .expect(400);
    expect(body.error).toMatch(/^Account with id .* not found$/);
  });

  it('requires a valid key', async () => {
    const post = askSandbox(sandbox.url).post('/api/v0.1/payouts/airtime').set('X-API-Key', 'nobody');
    await post.send({ ...airtime(1), subAccount: SUB_ACCOUNT }).expect(401);
  });
});
