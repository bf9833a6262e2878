import { methodOf, OPERATION_NAMES, OperationName, pathOf } from '../../src/operations/catalogue/catalogue';
import { first } from '../support/examples/first';
import { API_DOCUMENT, operationsIn } from '../support/http/api-document';
import { dataOf, InterfaceClient, RawAnswer } from '../support/http/interface-client';
import { closed, schemaOf, undescribed } from '../support/http/response-schemas';
import { startProxyWithSandbox } from '../support/processes/proxy';

const AIRTIME = { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 0.5 };
const CREDIT = { email: 'ada@example.com', valueInUSD: 0.5 };
const ABSENT = '00000000-0000-4000-8000-00000000000f';
const CHARGE = {
  amount: 1_295,
  currency: 'KES',
  phone_number: '+254712345678',
  fullname: 'Ada Otieno',
  country: 'Kenya',
  email: 'ada@example.com',
  tx_ref: 'order-17',
};

const answerOf = (operation: OperationName) =>
  schemaOf(methodOf(operation) === 'GET' ? 'get' : 'post', `/api/v0.1${pathOf(operation)}`);

describe('upstream responses in openapi.json', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let api: InterfaceClient;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox();
    api = new InterfaceClient(proxy.url, (await proxy.client('app', 'pay', 'write', 'read', 'account')).key);
  });
  afterAll(() => proxy.close());

  const credit = async () => first(dataOf('POST /payouts/credit', await api.payOutCredit([CREDIT])).data);
  const unpaid = async () =>
    first(dataOf('POST /payouts/initiate-credit', await api.initiateCredit([CREDIT])).data);
  const subAccount = async () =>
    dataOf(
      'POST /sub-account/create',
      await api.createSubAccount({ name: 'West', email: 'west@example.com' }),
    );
  const wallet = async () => first(dataOf('GET /wallets/list', await api.wallets()));

  /** Each operation, asked so that it has a result, and so that it finds nothing if it can. */
  const ASKED: Record<OperationName, (() => Promise<RawAnswer>)[]> = {
    'POST /send': [() => api.send([CREDIT], 'Prizes')],
    'POST /payouts/airtime': [
      () => api.payOutAirtime([AIRTIME, { ...AIRTIME, phoneNumber: '+254700000001' }]),
    ],
    'POST /payouts/mobile-money': [
      () => api.payOutMobileMoney([{ ...AIRTIME, reference: 'a', momoCode: 'MPS' }]),
    ],
    'POST /payouts/credit': [() => api.payOutCredit([CREDIT, { twitter: '@ada', valueInUSD: 0.25 }])],
    'POST /payouts/initiate-credit': [() => api.initiateCredit([CREDIT], 'Prizes')],
    'POST /account/transfer': [async () => api.transfer((await subAccount()).uid, 0.5, 'airtime')],
    'POST /account/delete-unpaid-transaction': [async () => api.deleteUnpaid((await unpaid()).chiRef)],
    'GET /account/transaction': [
      async () => api.transaction((await credit()).id),
      () => api.transaction('none'),
    ],
    'GET /wallets/list': [() => api.wallets(), () => api.walletsByPost()],
    'GET /sub-account/list': [() => api.subAccounts()],
    'POST /account/transactions': [() => api.transactions()],
    'POST /account/issue-id-transactions': [
      async () => api.transactionsOfIssue((await credit()).issueID),
      () => api.transactionsOfIssue('none'),
    ],
    'GET /info/assets': [() => api.assets()],
    'GET /info/airtime-countries': [() => api.airtimeCountries()],
    'GET /info/mobile-money-codes': [() => api.mobileMoneyCodes()],
    'GET /info/usd-amount-in-local': [() => api.usdInLocal('KES', '100')],
    'GET /info/local-amount-in-usd': [() => api.localInUsd('NGN', '20')],
    'POST /collections/mobile-money/collect': [() => api.collect(CHARGE)],
    'POST /collections/mobile-money/initiate': [() => api.initiateCollection(CHARGE)],
    'POST /collections/mobile-money/verify': [
      async () =>
        api.verifyCollection(
          dataOf('POST /collections/mobile-money/initiate', await api.initiateCollection(CHARGE)).id,
        ),
    ],
    'POST /redeem/airtime': [
      async () => {
        const { chiRef } = await credit();
        return api.redeemAirtime({
          chiRef,
          phoneNumber: '+254712345678',
          countryToSend: 'Kenya',
          meta: { a: 1 },
        });
      },
    ],
    'POST /sub-account/create': [
      () => api.createSubAccount({ name: 'East', email: 'e@example.com', meta: { a: [1] } }),
    ],
    'GET /sub-account/get': [
      async () => api.subAccount((await subAccount()).id),
      () => api.subAccount(ABSENT),
    ],
    'POST /wallets/lookup': [
      async () => api.lookUpWallet((await wallet()).id),
      () => api.lookUpWallet(ABSENT),
    ],
    'POST /wallets/transfer': [
      async () =>
        api.transferBetweenWallets({ receiver: (await subAccount()).uid, valueInUSD: 0.5, wallet: 'momo' }),
    ],
  };

  it.each(OPERATION_NAMES)('have every field of the sandbox responses: %s', async (operation) => {
    const schema = answerOf(operation);
    for (const ask of ASKED[operation]) {
      const { status, text } = await ask();
      expect([
        status,
        undescribed(JSON.parse(text), schema),
        undescribed(JSON.parse(text), closed(schema)),
      ]).toEqual([200, [], []]);
    }
  });

  it('have an example that matches its schema', () => {
    const examples = operationsIn().filter(({ path }) => path.startsWith('/api/v0.1/'));
    expect(examples).toHaveLength(OPERATION_NAMES.length + 1); // /wallets/list has two methods
    for (const { path, operation } of examples) {
      const { schema, example } = operation.responses['200']?.content?.['application/json'] ?? { schema: {} };
      expect([path, example]).toMatchObject([path, { status: 'success' }]);
      expect([path, undescribed(example, closed(schema))]).toEqual([path, []]);
    }
  });

  it.each<[string, OperationName, object]>([
    ['numbers as text', 'GET /account/transaction', { id: 'a', valueInUSD: '0.1', fee: '0.01' }],
    ['a reference that is a number', 'GET /account/transaction', { chiRef: 17 }],
    [
      'payouts by position',
      'POST /payouts/airtime',
      { payouts: { 0: { status: 'Sent' }, issueID: 'a_1_2' } },
    ],
    ['an error within a success', 'POST /payouts/credit', { error: 'not found for that id' }],
    ['nothing found', 'POST /account/issue-id-transactions', { error: 'not found for that id' }],
    [
      'a new status and a new field',
      'GET /account/transaction',
      { status: 'REVERSAL_PENDING', newcomer: [1] },
    ],
    ['no field at all', 'POST /payouts/mobile-money', {}],
  ])('allow the observed responses of real services: %s', (_, operation, data) => {
    expect(undescribed({ status: 'success', data }, answerOf(operation))).toEqual([]);
  });

  it.each([
    { status: 'error', error: 'ERROR-REDEEMED' },
    {
      status: 'error',
      type: 'Transaction Error',
      code: 'TRANSACTION_FAILED',
      message: 'fail to send bulk airtime',
    },
  ])('have both error forms', (body) => {
    const refusal = API_DOCUMENT.paths['/api/v0.1/redeem/airtime']!.post!.responses['4XX']!;
    expect(undescribed(body, refusal.content?.['application/json']?.schema ?? {})).toEqual([]);
  });

  it('state which fields the upstream documents', () => {
    const documented = Object.entries(API_DOCUMENT.components.schemas).flatMap(([name, schema]) =>
      Object.entries(schema.properties ?? {})
        .filter(([, one]) => 'x-source' in one)
        .map(([field]) => `${name}.${field}`),
    );
    expect(documented.sort()).toEqual([
      'MobileMoneyCode.code',
      'SubAccount.uid',
      'Transaction.chiRef',
      'Transaction.id',
    ]);
  });
});
