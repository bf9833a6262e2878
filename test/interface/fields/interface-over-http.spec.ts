import { gzipSync } from 'node:zlib';
import {
  airtimeItem,
  collection,
  creditItem,
  LISTS,
  momoItem,
  redemption,
  startInterface,
  TestInterface,
} from '../../support/http/interface';

const JSON_TYPE = { 'Content-Type': 'application/json' };

const COLLECT = '/collections/mobile-money/collect';
const AIRTIME = '/payouts/airtime';
const MOMO = '/payouts/mobile-money';

const credit = (fields: object) => ({ credit: [{ ...creditItem(), ...fields }] });
const airtime = (fields: object) => ({ airtimes: [{ ...airtimeItem(), ...fields }] });
const momo = (fields: object) => ({ momos: [{ ...momoItem(), ...fields }] });

/** A request that violates one rule, and its fault. */
type Violation = [rule: string, path: string, body: object, pointer: string, detail: RegExp];

/** One request per rule. The interface-items, -bodies and observed-fields specs have all invalid values. */
const VIOLATIONS: Violation[] = [
  ['an amount', '/send', credit({ valueInUSD: 0 }), '/credit/0/valueInUSD', /number of US dollars/],
  ['an e-mail', '/send', credit({ email: 'ada' }), '/credit/0/email', /email address/],
  ['a handle', '/send', credit({ twitter: 'ada' }), '/credit/0/twitter', /begins with @/],
  [
    'a recipient',
    '/send',
    credit({ email: undefined }),
    '/credit/0/email',
    /^is required.* absent if twitter/,
  ],
  ['optional text', '/send', { ...credit({}), description: 5 }, '/description', /text of at most 1000/],
  ['an unknown field', '/send', { ...credit({}), colour: 1 }, '/colour', /is not a field of this operation/],
  ['a list', '/send', { credit: [] }, '/credit', /^must be a list of at least one item$/],
  ['an item', '/send', { credit: [5] }, '/credit/0', /^must be an object$/],
  ['a phone', AIRTIME, airtime({ phoneNumber: '5' }), '/airtimes/0/phoneNumber', /in international format/],
  ['text', MOMO, momo({ momoCode: '' }), '/momos/0/momoCode', /text of 1 to \d+ characters/],
  ['a missing field', '/account/transfer', { amount: 5 }, '/receiver', /^is required and must be text/],
  ['a local amount', COLLECT, { ...collection(), amount: 0 }, '/amount', /at most 3 decimals/],
  ['a currency', COLLECT, { ...collection(), currency: 'kes' }, '/currency', /of three capital letters/],
  ['free data', '/redeem/airtime', { ...redemption(), meta: [] }, '/meta', /object of at most 8192 bytes/],
];

/** The rules of the interface, through the whole proxy. */
describe('a request over HTTP', () => {
  let api: TestInterface;

  beforeAll(async () => {
    api = await startInterface();
  });
  afterAll(() => api.close());

  const sent = () => api.upstream.received.at(-1);

  it.each(VIOLATIONS)('returns 400 for a violation of %s', async (_rule, path, body, pointer, detail) => {
    const recorded = await api.expectRefused(api.post(path, body), [{ pointer, detail }]);
    expect(recorded.refusal!.errors[0]!.pointer).toBe(pointer === '/colour' ? '/…' : pointer);
  });

  it.each([
    [
      'an amount',
      '/info/usd-amount-in-local?destinationCurrency=KES&amountInUSD=1e3',
      '/amountInUSD',
      /decimal number/,
    ],
    ['text', '/account/transaction?id=', '/id', /must be text of 1 to 100/],
    ['an unknown parameter', '/sub-account/list?colour=red', '/colour', /is not a field of this operation/],
  ])('returns 400 for a query that violates %s', (_rule, path, pointer, detail) =>
    api.expectRefused(api.get(path), [{ pointer, detail }]),
  );

  it.each([
    ['is no JSON', 'hello', /must be valid JSON(\. The error is at character \d+)?$/],
    ['is not UTF-8', Buffer.from([0x22, 0x80, 0x22]), /must be valid UTF-8$/],
    ['is no object', '[]', /must be a JSON object$/],
    [
      'is nested too deeply',
      '['.repeat(400_000) + ']'.repeat(400_000),
      /must not be nested deeper than 16 levels$/,
    ],
    ['is too large', `{"colour":"${'x'.repeat(1_048_576)}"}`, /must be at most 1048576 bytes$/],
  ])('returns 400 if its body %s', (_what, body, detail) =>
    api.expectRefused(
      api.postRaw('/send', body, JSON_TYPE).serialize(() => body as string),
      [{ pointer: '', detail }],
    ),
  );

  it('returns 400 for a duplicate name', () =>
    api.expectRefused(api.postRaw('/send', '{"credit":[],"credit":[]}'), [
      { pointer: '/credit', detail: /^must be given only once$/ },
    ]));

  it.each(['application/xml', 'application/json, text/plain', 'garbage', ';', '/'])(
    'returns 400 for the content type "%s"',
    (type) =>
      api.expectRefused(
        api.postRaw('/send', JSON.stringify({ credit: [creditItem()] }), { 'Content-Type': type }),
        [
          {
            pointer: '',
            detail: /^the body must be JSON, sent with Content-Type: application\/json$/,
          },
        ],
      ),
  );

  it('returns 400 for a chunked body over 1 MiB', async () => {
    const response = await fetch(`${api.proxy.url}/api/v0.1/send`, {
      method: 'POST',
      headers: { 'X-API-Key': api.app, ...JSON_TYPE },
      body: new Blob([`{"colour":"${'x'.repeat(2_000_000)}"}`]).stream(),
      duplex: 'half',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      status: 'error',
      code: 'invalid_request',
      errors: [{ pointer: '', detail: 'the body must be at most 1048576 bytes' }],
    });
    expect((await api.record(response.headers.get('x-call-id') ?? '')).outcome).toBe('refused');
  });

  it('does not record the digits of a malformed body that resembles a parser error', async () => {
    const faults = [{ pointer: '', detail: /^the body must be valid JSON$/ }];
    const recorded = await api.expectRefused(api.postRaw('/send', 'position 23480123'), faults);
    expect(JSON.stringify(recorded.refusal)).not.toContain('23480123');
  });

  it.each(LISTS)(
    'forwards each amount of POST $path unchanged and records it exactly',
    async ({ path, list, item }) => {
      const amounts = [0.000001, 1e-6, 0.1, 123_456_789.123456, 999_999_999];
      const items = amounts.map((valueInUSD) => ({ ...item(), valueInUSD }));
      const response = await api.post(path, { [list]: items }).expect(200);
      expect(sent()?.body).toContain(`{"${list}":${JSON.stringify(items)}`);
      const recorded = await api.record(response.headers['x-call-id'] as string);
      const texts = ['0.000001', '0.000001', '0.1', '123456789.123456', '999999999'];
      expect(recorded.items.map(({ amount_usd }) => amount_usd)).toEqual(texts);
      expect(recorded.total_usd).toBe('1123456788.223458');
    },
  );

  it.each(LISTS)(
    'reads an amount of POST $path as text, and forwards the number',
    async ({ path, list, item }) => {
      const items = ['2.50', '0.000001', '999999999', '10.0'].map((valueInUSD) => ({
        ...item(),
        valueInUSD,
      }));
      const keyed = { 'Idempotency-Key': `text-${list}-${path}`.replaceAll('/', '.') };
      const response = await api
        .post(path, { [list]: items })
        .set(keyed)
        .expect(200);
      const numbers = [2.5, 0.000001, 999_999_999, 10].map((valueInUSD) => ({ ...item(), valueInUSD }));
      expect(sent()?.body).toContain(`{"${list}":${JSON.stringify(numbers)}`);
      const recorded = await api.record(response.headers['x-call-id'] as string);
      const texts = ['2.5', '0.000001', '999999999', '10'];
      expect(recorded.items.map(({ amount_usd }) => amount_usd)).toEqual(texts);
      await api
        .post(path, { [list]: numbers })
        .set(keyed)
        .expect('Idempotent-Replayed', 'true');
    },
  );

  it('returns 415 for a compressed body, with instructions', async () => {
    for (const encoding of ['gzip', 'br', 'identity, gzip']) {
      const { body, headers } = await api
        .postRaw('/send', gzipSync(JSON.stringify({ credit: [creditItem()] })), {
          'Content-Encoding': encoding,
          ...JSON_TYPE,
        })
        .expect(415);
      expect(body).toMatchObject({
        code: 'unsupported_encoding',
        action: 'fix_request',
        error: expect.stringContaining('without Content-Encoding'),
      });
      expect(headers['accept-encoding']).toBe('identity');
    }
    const plain = JSON.stringify({ credit: [creditItem()] });
    await api.postRaw('/send', plain, { 'Content-Encoding': 'identity', ...JSON_TYPE }).expect(200);
  });

  it('suggests the probable recipient of a refused payment, and does not record it', async () => {
    const given = { ...airtimeItem(), phoneNumber: '\u202a+254712345678\u202c' };
    const detail = /It has an invisible character\. Did you mean \+254712345678\?$/;
    const recorded = await api.expectRefused(api.post('/payouts/airtime', { airtimes: [given] }), [
      { pointer: '/airtimes/0/phoneNumber', detail },
    ]);
    expect(JSON.stringify(recorded)).not.toContain('254712345678');
    expect(JSON.stringify(recorded.refusal)).toContain('It has an invisible character');
  });

  it('forwards a credit payout without a value, and records none', async () => {
    const { email } = creditItem();
    const response = await api.post('/payouts/credit', { credits: [{ email }] }).expect(200);
    expect(sent()?.body).toBe('{"credits":[{"email":"ada@example.com"}]}');
    const recorded = await api.record(response.headers['x-call-id'] as string);
    expect([recorded.items[0]!.amount_usd, recorded.total_usd]).toEqual([null, null]);
  });

  it('forwards 1,000 items', async () => {
    const airtimes = Array.from({ length: 1_000 }, airtimeItem);
    await api.post('/payouts/airtime', { airtimes }).expect(200);
    expect(JSON.parse(sent()?.body ?? '')).toEqual({ airtimes });
  });

  it('forwards text in any language and with any printable character', async () => {
    const description = '  Prämien für Ünïcode — 🎉 “quotes” \\ / \u2028 עברית  ';
    await api.post('/send', { credit: [creditItem()], description }).expect(200);
    expect(JSON.parse(sent()?.body ?? '')).toHaveProperty('description', description);
  });

  it.each([
    ['/info/usd-amount-in-local', 'destinationCurrency=KES&amountInUSD=100.50'],
    ['/info/local-amount-in-usd', 'originCurrency=KES&amountInOriginCurrency=999999999999.999'],
  ])('forwards the query of GET %s unchanged', async (path, query) => {
    await api.get(`${path}?${query}`).expect(200);
    expect(sent()?.url).toBe(`/api/v0.1${path}?${query}`);
  });

  const NO_FIELDS = [
    ['without a body', undefined],
    ['with an empty object', {}],
  ] as const;

  it.each(NO_FIELDS)('forwards an empty object for POST /account/transactions %s', async (_how, body) => {
    await api.post('/account/transactions', body).expect(200);
    expect(sent()?.body).toBe('{}');
  });

  it.each(NO_FIELDS)('forwards no body for POST /account/issue-id-transactions %s', async (_how, body) => {
    const path = '/account/issue-id-transactions?issueID=user-1_7.5_17';
    await api.post(path, body).expect(200);
    expect(sent()).toMatchObject({ method: 'POST', url: `/api/v0.1${path}`, body: '' });
    expect([sent()?.headers['content-length'], sent()?.headers['content-type']]).toEqual(['0', undefined]);
  });
});
