import { creditItem, ExpectedFault, LISTS } from '../../support/http/interface';
import { expectFaults, expectAccepted, startRules, TestRules } from '../../support/http/rules';

const AMOUNT = /number of US dollars greater than 0 and at most 999999999, with at most 6 decimals/;
const PHONE = /phone number in international format: \+ and 7 to 15 digits/;
const EMAIL = /email address of at most 254 characters/;
const HANDLE = /handle that begins with @/;
const MISSING = /^is required and must be /;
const TEXT = /must be text of /;

/** An invalid value of one field of an item, and its fault. */
type Row = [fault: string, field: string, value: unknown, detail: RegExp];

const amounts: Row[] = [
  ...['five', '', '0', '1e2', '1,5', '5.', '007', '2.0000001', '1000000000'].map((text): Row => [
    'text',
    'valueInUSD',
    text,
    AMOUNT,
  ]),
  ['zero', 'valueInUSD', 0, AMOUNT],
  ['less than zero', 'valueInUSD', -1, AMOUNT],
  ['minus zero', 'valueInUSD', -0, AMOUNT],
  ['of seven decimals', 'valueInUSD', 1.0000001, AMOUNT],
  ['a sum of floats', 'valueInUSD', 0.1 + 0.2, AMOUNT],
  ['tiny', 'valueInUSD', 5e-324, AMOUNT],
  ['over a billion', 'valueInUSD', 1_000_000_000, AMOUNT],
  ['null', 'valueInUSD', null, AMOUNT],
  ['a boolean', 'valueInUSD', true, AMOUNT],
  ['a list', 'valueInUSD', [5], AMOUNT],
  ['an object', 'valueInUSD', { valueOf: 5 }, AMOUNT],
];
const phones: Row[] = [
  ['without +', 'phoneNumber', '2348012345678', PHONE],
  ['with blanks', 'phoneNumber', '+234 801 234 5678', PHONE],
  ['a number', 'phoneNumber', 2348012345678, PHONE],
  ['too short', 'phoneNumber', '+234801', PHONE],
  ['too long', 'phoneNumber', '+2348012345678901', PHONE],
  ['beginning with zero', 'phoneNumber', '+0348012345678', PHONE],
  ['with a line end', 'phoneNumber', '+2348012345678\n', PHONE],
  ['in other digits', 'phoneNumber', '+٢٣٤٨٠١٢٣٤٥٦', PHONE],
  ['null', 'phoneNumber', null, PHONE],
  ['missing', 'phoneNumber', undefined, MISSING],
];
const countries: Row[] = [
  ['missing', 'countryToSend', undefined, MISSING],
  ['empty', 'countryToSend', '', TEXT],
  ['blank', 'countryToSend', '  ', TEXT],
  ['a number', 'countryToSend', 234, TEXT],
  ['null', 'countryToSend', null, TEXT],
  ['too long', 'countryToSend', 'N'.repeat(101), TEXT],
  ['with NUL', 'countryToSend', 'Nig\0eria', TEXT],
  ['with a C1 control character', 'countryToSend', 'Nig\u0085eria', TEXT],
  ['half a surrogate pair', 'countryToSend', 'Nig\ud800eria', TEXT],
];
const references: Row[] = [
  ['missing', 'reference', undefined, MISSING],
  ['null', 'reference', null, TEXT],
  ['a number', 'reference', 17, TEXT],
  ['too long', 'reference', 'r'.repeat(256), TEXT],
];
const networks: Row[] = [
  ['missing', 'momoCode', undefined, MISSING],
  ['empty', 'momoCode', '', TEXT],
  ['an object', 'momoCode', { constructor: 1 }, TEXT],
];
const contacts: Row[] = [
  ['no address', 'email', 'ada', EMAIL],
  ['empty', 'email', '', EMAIL],
  ['null', 'email', null, EMAIL],
  ['a list', 'email', ['ada@example.com'], EMAIL],
  ['with a name', 'email', 'Ada <ada@example.com>', EMAIL],
  ['two addresses', 'email', 'ada@example.com,bob@example.com', EMAIL],
  ['quoted', 'email', '"ada lovelace"@example.com', EMAIL],
  ['with a line end inside quotes', 'email', '"ada\\\n"@example.com', EMAIL],
  ['with NUL', 'email', 'ada@example.com\0', EMAIL],
  ['with a change of direction', 'email', 'ada@ex\u202eample.com', EMAIL],
  ['half a surrogate pair before @', 'email', 'ada\ud800@example.com', EMAIL],
  ['half a surrogate pair after @', 'email', 'ada@exa\udc00mple.com', EMAIL],
  ['too long', 'email', `${'a'.repeat(64)}@${'example.'.repeat(24)}com`, EMAIL],
  ['without @', 'twitter', 'ada', HANDLE],
  ['only @', 'twitter', '@', HANDLE],
  ['with a blank', 'twitter', '@ada lovelace', HANDLE],
  ['null', 'twitter', null, HANDLE],
  ['a number', 'twitter', 5, HANDLE],
  ['too long', 'twitter', `@${'a'.repeat(65)}`, HANDLE],
];

const RULES: Record<string, Row[]> = {
  valueInUSD: amounts,
  phoneNumber: phones,
  countryToSend: countries,
  reference: references,
  momoCode: networks,
  email: contacts.filter(([, field]) => field === 'email'),
  twitter: contacts.filter(([, field]) => field === 'twitter'),
};

/** The value is optional in one operation (docs/reference/upstream.md, "Credit item"). */
const rulesOf = (path: string, fields: string[]): Row[] => [
  ...fields.flatMap((field) => RULES[field] ?? []),
  ...(path === '/payouts/credit' ? [] : [['missing', 'valueInUSD', undefined, MISSING] as Row]),
];

describe('the fields of items', () => {
  let rules: TestRules;

  beforeAll(async () => {
    rules = await startRules();
  });
  afterAll(() => rules.close());

  describe.each(LISTS)('of POST $path', ({ path, list, item, fields }) => {
    it.each(rulesOf(path, fields))(
      'reports an invalid value only at its position: %s: %s',
      async (...row) => {
        const [, field, value, detail] = row;
        const bad = { ...item(), [field]: value };
        const pointer = `/${list}/1/${field}`;
        await expectFaults(rules.post(path, { [list]: [item(), bad] }), [{ pointer, detail }]);
      },
    );

    it('reject 1e309, which no number can represent', () =>
      expectFaults(
        rules.postRaw(
          path,
          JSON.stringify({ [list]: [{ ...item(), valueInUSD: 7777 }] }).replace('7777', '1e309'),
        ),
        [{ pointer: `/${list}/0/valueInUSD`, detail: AMOUNT }],
      ));

    it('list every fault of every item', async () => {
      const worthless = { ...item(), valueInUSD: undefined };
      const faults: ExpectedFault[] = [
        { pointer: `/${list}/0/valueInUSD`, detail: AMOUNT },
        { pointer: `/${list}/0/colour`, detail: /not a field of this operation/ },
        { pointer: `/${list}/2`, detail: /must be an object/ },
      ];
      if (path !== '/payouts/credit') faults.push({ pointer: `/${list}/3/valueInUSD`, detail: MISSING });
      const items = [{ ...item(), valueInUSD: -1, colour: 'red' }, item(), 7, worthless];
      await expectFaults(rules.post(path, { [list]: items }), faults);
    });
  });

  it('allow an item without a value for /payouts/credit only', async () => {
    const { email } = creditItem();
    expect(await expectAccepted(rules.post('/payouts/credit', { credits: [{ email }] }))).toEqual({
      credits: [{ email }],
    });
  });
});
