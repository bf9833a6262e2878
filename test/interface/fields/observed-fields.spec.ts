import { collection, ExpectedFault, redemption } from '../../support/http/interface';
import { expectFaults, expectAccepted, startRules, TestRules } from '../../support/http/rules';

/** Texts other than decimal numbers above 0. */
const WRONG_AMOUNTS = ['', '0', '0.0', '-1', '+1', '1e3', '1,5', '.5', '5.', '007', ' 1', 'NaN', '٥', '0x10'];

const LOCAL = /number greater than 0 and at most 999999999999, with at most 3 decimals/;
const USD = /number of US dollars greater than 0 and at most 999999999, with at most 6 decimals/;
const CURRENCY = /currency code of three capital letters \(ISO 4217\)/;
const PHONE = /phone number in international format: \+ and 7 to 15 digits/;
const EMAIL = /must be an email address of at most 254 characters$/;
const TEXT = /must be text of 1 to \d+ characters,? without control/;
const META = /object of at most 8192 bytes of JSON and 8 levels/;
const UNKNOWN = /^must not be sent, because it is not a field of this operation$/;

type Row = [field: string, detail: RegExp, ...wrong: unknown[]];

const WRONG_TEXTS = ['', ' ', null, 5, ['a'], { constructor: 1 }, 'a\0', 'a\nb', '\ud800'];
const WRONG_PHONES = [
  '',
  null,
  '2348012345678',
  '+0348012345678',
  '+234 801 234',
  '+1234567890123456',
  2348012345678,
];
const WRONG_EMAILS = [
  '',
  null,
  'ada',
  'ada@example.com,bob@example.com',
  'Ada <ada@example.com>',
  ['ada@example.com'],
];
const WRONG_META = [null, [], 'text', 5, true, { a: 'x'.repeat(8_192) }, { 'a\0': 1 }, { a: ['\ud800'] }];

const subAccount = () => ({ name: 'Branch', email: 'ada@example.com' }) as Record<string, unknown>;

/** A valid body of each operation without optional fields, and invalid values of each field. */
const BODIES: { path: string; right: () => Record<string, unknown>; rows: Row[] }[] = [
  ...['/collections/mobile-money/collect', '/collections/mobile-money/initiate'].map((path) => ({
    path,
    right: collection,
    rows: [
      ['amount', LOCAL, undefined, ...WRONG_AMOUNTS, 0, -1, 1.0001, 1e12, null, true, [5]],
      ['currency', CURRENCY, undefined, 'kes', 'KE', 'KESH', 'K€S', '', null, 5, ['KES'], 'KES\n'],
      ['phone_number', PHONE, undefined, ...WRONG_PHONES],
      ['fullname', TEXT, undefined, 'x'.repeat(201), ...WRONG_TEXTS],
      ['country', TEXT, undefined, 'x'.repeat(101), ...WRONG_TEXTS],
      ['email', EMAIL, undefined, ...WRONG_EMAILS],
      ['tx_ref', TEXT, undefined, 'x'.repeat(256), ...WRONG_TEXTS],
    ] as Row[],
  })),
  {
    path: '/collections/mobile-money/verify',
    right: () => ({ id: 'payment-1' }),
    rows: [['id', TEXT, undefined, 'x'.repeat(101), ...WRONG_TEXTS]],
  },
  {
    path: '/redeem/airtime',
    right: redemption,
    rows: [
      ['chiRef', TEXT, undefined, 'x'.repeat(101), ...WRONG_TEXTS],
      ['phoneNumber', PHONE, undefined, ...WRONG_PHONES],
      ['countryToSend', TEXT, undefined, 'x'.repeat(101), ...WRONG_TEXTS],
      ['meta', META, ...WRONG_META],
    ],
  },
  {
    path: '/sub-account/create',
    right: subAccount,
    rows: [
      ['name', TEXT, undefined, 'x'.repeat(201), ...WRONG_TEXTS],
      ['email', EMAIL, undefined, ...WRONG_EMAILS],
      ['firstName', TEXT, 'x'.repeat(101), ...WRONG_TEXTS],
      ['lastName', TEXT, 'x'.repeat(101), ...WRONG_TEXTS],
      ['phoneNumber', PHONE, ...WRONG_PHONES],
      ['meta', META, ...WRONG_META],
    ],
  },
  {
    path: '/wallets/lookup',
    right: () => ({ walletID: 'wallet-1' }),
    rows: [['walletID', TEXT, undefined, 'x'.repeat(101), ...WRONG_TEXTS]],
  },
  {
    path: '/wallets/transfer',
    right: () => ({ receiver: 'sub-account-1', valueInUSD: 1 }),
    rows: [
      ['receiver', TEXT, undefined, 'x'.repeat(101), ...WRONG_TEXTS],
      ['valueInUSD', USD, undefined, ...WRONG_AMOUNTS, 0, -1, 1.0000001, 1e9, null],
      ['wallet', TEXT, 'x'.repeat(51), ...WRONG_TEXTS],
    ],
  },
];

const AMOUNT_TEXT = /decimal number greater than 0, with at most \d+ digits and \d decimals/;
const QUERIES = [
  {
    path: '/info/usd-amount-in-local',
    currency: 'destinationCurrency',
    amount: 'amountInUSD',
    wrong: [...WRONG_AMOUNTS, '1234567890', '1.1234567'],
    right: ['0.000001', '999999999.999999', '100.50'],
  },
  {
    path: '/info/local-amount-in-usd',
    currency: 'originCurrency',
    amount: 'amountInOriginCurrency',
    wrong: [...WRONG_AMOUNTS, '1234567890123', '1.1234'],
    right: ['0.001', '999999999999.999', '20'],
  },
];

describe('the fields of observed operations', () => {
  let rules: TestRules;

  beforeAll(async () => {
    rules = await startRules();
  });
  afterAll(() => rules.close());

  describe.each(BODIES)('POST $path', ({ path, right, rows }) => {
    it.each(rows)('rejects each invalid value of %s, with one fault', async (field, detail, ...wrong) => {
      for (const value of wrong) {
        const faults: ExpectedFault[] = [{ pointer: `/${field}`, detail }];
        await expectFaults(rules.post(path, { ...right(), [field]: value }), faults);
      }
    });

    it('accepts a valid body, and rejects unknown fields, parameters and other body types', async () => {
      expect(await expectAccepted(rules.post(path, right()))).toEqual(right());
      const names = ['colour', 'constructor', '__proto__', 'toString'];
      const strange = names.map((name) => `${JSON.stringify(name)}:{"a":1}`).join();
      await expectFaults(
        rules.postRaw(path, `{${strange},${JSON.stringify(right()).slice(1)}`),
        names.map((name) => ({ pointer: `/${name}`, detail: UNKNOWN })),
      );
      await expectFaults(rules.post(path, []), [{ pointer: '', detail: /must be a JSON object/ }]);
      await expectFaults(rules.post(path, undefined), [
        { pointer: '', detail: /the body is required and must be a JSON object/ },
      ]);
    });
  });

  describe.each(QUERIES)('GET $path', ({ path, currency, amount, wrong, right }) => {
    const ask = (fields: Record<string, string>) =>
      rules.get(`${path}?${new URLSearchParams({ [currency]: 'KES', [amount]: '5', ...fields }).toString()}`);

    it.each(wrong)('rejects the amount "%s"', (value) =>
      expectFaults(ask({ [amount]: value }), [{ pointer: `/${amount}`, detail: AMOUNT_TEXT }]),
    );

    it.each(right)('forwards the amount "%s" unchanged', async (value) => {
      expect(await expectAccepted(ask({ [amount]: value }))).toEqual({ [currency]: 'KES', [amount]: value });
    });

    it.each(['', 'kes', 'KESH', '840'])('rejects the currency "%s"', (value) =>
      expectFaults(ask({ [currency]: value }), [{ pointer: `/${currency}`, detail: CURRENCY }]),
    );

    it('requires each parameter once, and accepts no other', async () => {
      const missing = [currency, amount].map((field) => ({
        pointer: `/${field}`,
        detail: /^is required and must be/,
      }));
      await expectFaults(rules.get(path), missing);
      await expectFaults(rules.get(`${path}?${currency}=KES&${amount}=1&${amount}=2&colour=red`), [
        { pointer: `/${amount}`, detail: AMOUNT_TEXT },
        { pointer: '/colour', detail: UNKNOWN },
      ]);
    });
  });

  it.each(['/info/assets', '/info/airtime-countries', '/info/mobile-money-codes'])(
    'accepts no parameters for GET %s',
    (path) => expectFaults(rules.get(`${path}?country=Kenya`), [{ pointer: '/country', detail: UNKNOWN }]),
  );

  it.each(['', '?id=', '?id=a&id=b', '?id=%00', `?id=${'x'.repeat(101)}`])(
    'rejects GET /sub-account/get%s',
    (query) => expectFaults(rules.get(`/sub-account/get${query}`), [{ pointer: '/id', detail: TEXT }]),
  );

  it.each([
    ['without a body', undefined],
    ['with an empty object', {}],
  ])('accepts no body for POST /account/transactions %s', async (_how, body) => {
    expect(await expectAccepted(rules.post('/account/transactions', body))).toEqual({});
    await expectFaults(rules.post('/account/transactions', { page: 2 }), [
      { pointer: '/page', detail: UNKNOWN },
    ]);
    await expectFaults(rules.post('/account/transactions?page=2', body), [
      { pointer: '/page', detail: UNKNOWN },
    ]);
  });

  it.each([
    ['without a body', undefined],
    ['with an empty object', {}],
  ])('accepts the ID of POST /account/issue-id-transactions %s from the query only', async (_how, body) => {
    const path = '/account/issue-id-transactions';
    await expectAccepted(rules.post(`${path}?issueID=user-1_7.5_17`, body));
    for (const query of [
      '',
      '?issueID=',
      '?issueID=a&issueID=b',
      '?issueID=%00',
      `?issueID=${'x'.repeat(256)}`,
    ]) {
      await expectFaults(rules.post(`${path}${query}`, body), [{ pointer: '/issueID', detail: TEXT }]);
    }
    await expectFaults(rules.post(`${path}?issueID=a`, { issueID: 'a' }), [
      { pointer: '/issueID', detail: UNKNOWN },
    ]);
  });
});
