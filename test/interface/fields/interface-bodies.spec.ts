import { airtimeItem, creditItem, ExpectedFault, LISTS } from '../../support/http/interface';
import { expectFaults, expectAccepted, startRules, TestRules } from '../../support/http/rules';

const UNKNOWN = /^must not be sent, because it is not a field of this operation$/;
const TOO_MANY = /at most 35000 fields and list entries, and has \d{5,6}$/;

/** A description with these bytes, which are not UTF-8. */
const description = (...bytes: number[]) =>
  Buffer.concat([Buffer.from('{"description":"'), Buffer.from(bytes), Buffer.from('"}')]);

/** A body of nearly the maximum length. Parsing it would delay all other requests for 200 ms and more. */
const filled = (begin: string, member: (n: number) => string, end: string) => {
  const members = Array.from({ length: Math.floor(950_000 / member(1e5).length) }, (_, n) => member(n));
  return `${begin}${members.join('')}0${end}`;
};

/** Faults of whole bodies. Those of single fields are in interface-items.spec.ts. */
describe('the body validator', () => {
  let rules: TestRules;

  beforeAll(async () => {
    rules = await startRules();
  });
  afterAll(() => rules.close());

  const wholeBody = (detail: RegExp): ExpectedFault[] => [{ pointer: '', detail }];

  it.each([
    ['nothing', ''],
    ['a word', 'hello'],
    ['a cut off object', '{"credit":[{"email":"ada@example.com"'],
    ['two values', '{}{}'],
    ['a trailing comma', '{"credit":[],}'],
    ['single quotes', "{'credit':[]}"],
    ['NaN', '{"credit":[{"valueInUSD":NaN}]}'],
    ['a comment', '{/* */}'],
    ['a raw line end in text', '{"description":"a\nb"}'],
  ])(
    'reports the position of %s, which is not a JSON object, without quoting the body',
    async (_what, body) => {
      await expectFaults(
        rules.postRaw('/send', body),
        wholeBody(
          body === ''
            ? /^the body is required and must be a JSON object/
            : /^the body must be valid JSON(\. The error is at character \d+)?$/,
        ),
      );
    },
  );

  it.each(['null', '5', '"text"', 'true', '[]', '[{"credit":[]}]'])(
    'rejects %s, which is not a JSON object',
    (body) => expectFaults(rules.postRaw('/send', body), wholeBody(/^the body must be a JSON object$/)),
  );

  it.each([
    ['a lone continuation byte', Buffer.from([0x7b, 0x80, 0x7d])],
    ['a cut off sequence', description(0xc3)],
    ['an overlong form', description(0xc0, 0xaf)],
    ['UTF-16', Buffer.from('{"credit":[]}\ud83d', 'utf16le')],
  ])('rejects %s, which is not UTF-8', (_what, bytes) =>
    expectFaults(rules.postRaw('/send', bytes), wholeBody(/^the body must be valid (UTF-8|JSON)/)),
  );

  it.each([
    ['lists', '['.repeat(400_000) + ']'.repeat(400_000)],
    ['objects', '{"a":'.repeat(150_000) + '1' + '}'.repeat(150_000)],
    ['objects within a field', `{"description":${'{"a":'.repeat(20)}1${'}'.repeat(20)}}`],
  ])('rejects %s nested deeper than any interface body', (_what, body) =>
    expectFaults(
      rules.postRaw('/send', body),
      wholeBody(/^the body must not be nested deeper than 16 levels$/),
    ),
  );

  it.each([
    [
      'different fields',
      filled('{"credit":[{', (n) => `"f${'x'.repeat(20)}${n}":0,`, ',"e":0}]}').replace(',0,"e"', ',"e"'),
      /at most 2000 different field names$/,
    ],
    ['objects', filled('{"credit":[', () => '{},', ']}'), TOO_MANY],
    ['fields', filled('{"credit":[', () => '{"a":1},', ']}'), TOO_MANY],
    ['numbers', filled('{"credit":[', () => '1,', ']}'), TOO_MANY],
    [
      'duplicate fields',
      filled('{"credit":0,', (n) => `"a${1_000 + (n % 1_000)}":0,`, ',"e":0}').replace(',0,"e"', ',"e"'),
      TOO_MANY,
    ],
  ])('rejects a hundred thousand %s with one fault, and does not parse them', async (_what, body, detail) => {
    const parse = jest.spyOn(JSON, 'parse');
    try {
      await expectFaults(
        rules.postRaw('/send', body),
        wholeBody(new RegExp(`^the body must have ${detail.source}`)),
      );
      expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([]);
    } finally {
      parse.mockRestore();
    }
  });

  it.each([
    ['{"credit":[{"email":"ada@example.com","valueInUSD":1,"valueInUSD":1000}]}', ['/credit/0/valueInUSD']],
    ['{"credit":[],"credit":[{"email":"ada@example.com","valueInUSD":1}]}', ['/credit']],
    ['{"credit":[{"valueInUSD":1,"value\\u0049nUSD":2}]}', ['/credit/0/valueInUSD']],
    ['{"a":{"b":[{},{"c":1,"c":1}]},"a":1,"d":"\\"a\\":"}', ['/a', '/a/b/1/c']],
    ['{"__proto__":1,"__proto__":2}', ['/__proto__']],
  ])('rejects a duplicate name: %s', (body, pointers) =>
    expectFaults(
      rules.postRaw('/send', body),
      pointers.map((pointer) => ({ pointer, detail: /^must be given only once$/ })),
    ),
  );

  it.each([
    'text/plainer',
    'text/html',
    'application/x-www-form-urlencoded2',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'application/vnd.api+json',
  ])('rejects the content type "%s", whatever the body', (type) =>
    expectFaults(
      rules.postRaw('/send', JSON.stringify({ credit: [creditItem()] }), { 'Content-Type': type }),
      wholeBody(/^the body must be JSON, sent with Content-Type: application\/json$/),
    ),
  );

  it('accepts a body of 1 MiB', async () => {
    const fitting = `{"colour":"${'x'.repeat(1_048_576 - 13)}"}`;
    await expectFaults(rules.postRaw('/send', fitting), [
      { pointer: '/colour', detail: UNKNOWN },
      { pointer: '/credit', detail: /^is required and must/ },
    ]);
  });

  describe.each(LISTS)('the list of POST $path', ({ path, list, item }) => {
    const mustBeList: ExpectedFault[] = [
      { pointer: `/${list}`, detail: /^must be a list of at least one item$/ },
    ];

    it.each([[[]], [null], ['text'], [5], [{}], [{ 0: item(), length: 1 }], [{ constructor: 1 }]])(
      'requires at least one item, and rejects %j',
      (value) => expectFaults(rules.post(path, { [list]: value }), mustBeList),
    );

    it('is required', () =>
      expectFaults(rules.post(path, {}), [
        { pointer: `/${list}`, detail: /^is required and must be a list/ },
      ]));

    it('contains objects, and reports each number, text, null and nested list', () =>
      expectFaults(
        rules.post(path, { [list]: [5, 'x', null, true, [], [item()], [[item()]], item()] }),
        [0, 1, 2, 3, 4, 5, 6].map((index) => ({
          pointer: `/${list}/${index}`,
          detail: /^must be an object$/,
        })),
      ));

    it('contains at most 1,000 items', async () => {
      const items = Array.from({ length: 1_000 }, item);
      await expectAccepted(rules.post(path, { [list]: items }));
      await expectFaults(rules.post(path, { [list]: [...items, { broken: true }] }), [
        { pointer: `/${list}`, detail: /^must have at most 1000 items, and has 1001$/ },
      ]);
    });

    it('accepts no unknown field, including JavaScript property names', async () => {
      const properties = 'constructor __proto__ toString hasOwnProperty prototype toJSON then';
      const names = ['colour', ...properties.split(' '), ''];
      const strange = names
        .map((name) => `${JSON.stringify(name)}:{"valueInUSD":9,"constructor":{"prototype":1}}`)
        .join();
      const good = JSON.stringify(item()).slice(1, -1);
      await expectFaults(
        rules.postRaw(path, `{"${list}":[{${good},${strange}}],${strange}}`),
        names
          .flatMap((name) => [`/${name}`, `/${list}/0/${name}`])
          .map((pointer) => ({ pointer, detail: UNKNOWN })),
      );
      expect(({} as Record<string, unknown>).valueInUSD).toBeUndefined();
    });
  });

  it('escapes JSON pointers, removes control characters from them, and limits their length', () =>
    expectFaults(
      rules.post('/payouts/airtime', {
        airtimes: [airtimeItem()],
        'a/b~c': 1,
        'a\nb\ud800': 1,
        ['x'.repeat(500)]: 1,
      }),
      [
        { pointer: '/a~1b~0c', detail: UNKNOWN },
        { pointer: '/a\ufffdb\ufffd', detail: UNKNOWN },
        { pointer: `/${'x'.repeat(100)}`, detail: UNKNOWN },
      ],
    ));

  it('accepts text in any language with any printable character', async () => {
    const text = '  Prämien für Ünïcode — 🎉 “quotes” \\ / \u2028 עברית  ';
    const taken = await expectAccepted(rules.post('/send', { credit: [creditItem()], description: text }));
    expect(taken).toMatchObject({ description: text });
    await expectAccepted(rules.post('/send', { credit: [creditItem()], description: '' }));
  });

  it.each([
    ...[5, null, ['text'], { toString: 'x' }, { constructor: 1 }].map((value) => ({ value })),
    ...['a\u0000', '\u007f', '\u009f', '\udc00', 'x'.repeat(1_001)].map((value) => ({ value })),
  ])('rejects $value as a description', ({ value }) =>
    expectFaults(rules.post('/send', { credit: [creditItem()], description: value }), [
      {
        pointer: '/description',
        detail: /must be text of at most 1000 characters without control characters/,
      },
    ]),
  );

  it.each(['/account/transaction', '/wallets/list', '/sub-account/list'])(
    'rejects unknown parameters of GET %s',
    async (path) => {
      const names = ['colour', '__proto__', 'constructor', 'toString', 'id[]'];
      const faults = names.map((name) => ({ pointer: `/${name}`, detail: UNKNOWN }));
      const query = names.map((name) => `${name}=1`).join('&');
      await expectFaults(
        rules.get(`${path}?${query}${path === '/account/transaction' ? '&id=a' : ''}`),
        faults,
      );
    },
  );

  it.each(['', '?id=', '?id=%20', '?id=a&id=b', '?id=%00', `?id=${'x'.repeat(101)}`])(
    'rejects GET /account/transaction%s, which identifies no transaction',
    (query) =>
      expectFaults(rules.get(`/account/transaction${query}`), [
        { pointer: '/id', detail: /must be text of 1 to 100/ },
      ]),
  );

  it('rejects fields and parameters of POST /wallets/list', async () => {
    await expectFaults(rules.post('/wallets/list', { id: 1 }), [{ pointer: '/id', detail: UNKNOWN }]);
    await expectFaults(rules.post('/wallets/list?id=1', {}), [{ pointer: '/id', detail: UNKNOWN }]);
    await expectFaults(rules.post('/wallets/list', []), wholeBody(/^the body must be a JSON object$/));
  });
});
