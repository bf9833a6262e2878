import { Decimal } from 'decimal.js';
import { RegisterScene, startRegistering } from '../support/access/registering';
import supertest from '../support/http/supertest';

/** A recipient has many spellings. Each is either refused, or equal for every limit and block. */
describe('a payment with another spelling of its recipient', () => {
  let api: RegisterScene;

  beforeAll(async () => (api = await startRegistering()));
  afterAll(() => api.approving.close());
  beforeEach(() => api.approving.reset());

  const airtime = (phoneNumber: string, countryToSend = 'Kenya', valueInUSD = 4) => ({
    airtimes: [{ countryToSend, phoneNumber, valueInUSD }],
  });
  const credit = (email: string) => ({ credits: [{ email, valueInUSD: 4 }] });
  const transfer = (receiver: string) => ({ receiver, amount: 4, wallet: 'airtime' });

  const SPELLINGS = [
    ['/payouts/airtime', airtime('+254712345678'), airtime('+2540712345678')],
    ['/payouts/airtime', airtime('+254712345678'), airtime('\u202a+254712345678\u202c')],
    ['/payouts/airtime', airtime('+254712345678'), airtime('+\u0662\u0665\u0664712345678')],
    ['/payouts/airtime', airtime('+254712345678'), airtime('\uff0b254712345678')],
    ['/payouts/airtime', airtime('+2290197123456', 'Benin'), airtime('+22997123456', 'Benin')],
    ['/payouts/credit', credit('ada@xn--bcher-kva.example'), credit('ada@bücher.example')],
    ['/payouts/credit', credit('ada@xn--bcher-kva.example'), credit('ada@bu\u0308cher.example')],
    ['/payouts/credit', credit('ada@example.com'), credit('ada@example.com\ufe0f')],
    ['/payouts/credit', credit('ada@example.com'), credit('ada@exa\u217fple.com')],
    ['/payouts/credit', credit('ada@example.com'), credit('\uff41da@example.com')],
    ['/payouts/credit', credit('josé@example.com'), credit('jose\u0301@example.com')],
    ['/payouts/credit', credit('ada@example.com'), credit('ADA@Example.com')],
    [
      '/payouts/credit',
      credit('ada@example.com'),
      { credits: [{ email: 'ada@example.com', twitter: '@x', valueInUSD: 4 }] },
    ],
    ['/account/transfer', transfer('user-17'), transfer('user\u200b-17')],
    ['/account/transfer', transfer('user-17'), transfer(' user-17')],
    ['/account/transfer', transfer('+254712345678'), transfer('+2540712345678')],
  ] as const;

  it.each(SPELLINGS)('is not sent to a blocked recipient: POST %s %j %j', async (path, canonical, other) => {
    const { name, key } = await api.client();
    await api.block(name, recipientOf(canonical));
    for (const body of [canonical, other]) {
      const refused = await api.approving.proxy.post(key, path, body);
      expect([400, 403]).toContain(refused.status);
    }
    expect(api.approving.upstream.received).toEqual([]);
  });

  it.each(SPELLINGS)("does not exceed the recipient's cap: POST %s %j %j", async (path, canonical, other) => {
    const { key } = await api.client({ maxRecipientDayUsd: new Decimal(5) });
    await api.approving.proxy.post(key, path, canonical).expect(200);
    const refused = await api.approving.proxy.post(key, path, other);
    expect([400, 403]).toContain(refused.status);
    expect(api.approving.upstream.received).toHaveLength(1);
  });

  it.each([
    [
      '/payouts/airtime',
      airtime('+2540712345678'),
      '/airtimes/0/phoneNumber',
      / Did you mean \+254712345678\?$/,
    ],
    [
      '/payouts/airtime',
      airtime('+22997123456', 'Benin'),
      '/airtimes/0/phoneNumber',
      / Did you mean \+2290197123456\?$/,
    ],
    [
      '/payouts/airtime',
      airtime('+22507123456', 'CI'),
      '/airtimes/0/phoneNumber',
      /have 10 digits after it\. This one has 8$/,
    ],
    [
      '/payouts/airtime',
      airtime('+25471234567'),
      '/airtimes/0/phoneNumber',
      /have 9 digits after it\. This one has 8$/,
    ],
    [
      '/payouts/airtime',
      airtime('+2547123456789'),
      '/airtimes/0/phoneNumber',
      /have 9 digits after it\. This one has 10$/,
    ],
    [
      '/payouts/airtime',
      airtime('+999123456789'),
      '/airtimes/0/phoneNumber',
      /\. No country has such a number$/,
    ],
    [
      '/payouts/credit',
      credit('ada@bücher.example'),
      '/credits/0/email',
      / Did you mean ada@xn--bcher-kva\.example\?$/,
    ],
    [
      '/payouts/credit',
      credit('ada@exa\u00admple.com'),
      '/credits/0/email',
      /It has an invisible character\. Did you mean ada@example\.com\?$/,
    ],
    [
      '/account/transfer',
      transfer('user\u200b-17'),
      '/receiver',
      /It has an invisible character\. Did you mean user-17\?$/,
    ],
  ] as const)('is refused with the spelling to use: POST %s %j', async (path, body, pointer, detail) => {
    const { key } = await api.client();
    const refused = await api.approving.proxy.post(key, path, body).expect(400);
    expect(refused.body.errors).toEqual([
      expect.objectContaining({ pointer, detail: expect.stringMatching(detail) }),
    ]);
    const preview = supertest(api.approving.proxy.url).post(`/v1/preview${path}`).set('X-API-Key', key);
    const { errors } = (await preview.send(body).expect(200)).body;
    expect(errors).toEqual([expect.objectContaining({ pointer, detail: expect.stringMatching(detail) })]);
  });

  it("is refused if the number's country differs from the item's, unless the client allows it", async () => {
    const { key } = await api.client();
    const { key: lenient } = await api.client({ allowForeignNumbers: true });
    const body = airtime('+2348012345678', 'Kenya');
    const errors = [
      { pointer: '/airtimes/0/phoneNumber', detail: 'is a number of Nigeria, and the item states Kenya' },
    ];
    const refused = await api.approving.proxy.post(key, '/payouts/airtime', body).expect(400);
    expect(api.approving.upstream.received).toEqual([]);
    expect(refused.body).toMatchObject({ code: 'foreign_number', action: 'fix_request', errors });
    const preview = supertest(api.approving.proxy.url)
      .post('/v1/preview/payouts/airtime')
      .set('X-API-Key', key);
    expect((await preview.send(body).expect(200)).body).toMatchObject({ would: 'be_refused', errors });
    await api.approving.proxy.post(lenient, '/payouts/airtime', body).expect(200);
  });

  it('is found by each spelling that people paste into a search', async () => {
    const { key } = await api.client();
    const phone = api.newPhone();
    const { headers } = await api.pay(key, [phone]).expect(200);
    const auditor = (await api.approving.proxy.client('finds', 'audit', 'audit:pii')).key;
    const rest = phone.slice(4);
    for (const spelling of [
      `\u202a${phone}\u202c`,
      `+254\u2011${rest}`,
      `+254/${rest}`,
      `+2540${rest}`,
      `+${[...phone.slice(1)].map((digit) => String.fromCharCode(0x0660 + Number(digit))).join('')}`,
      `0${rest}`,
    ]) {
      const path = `/v1/audit/calls?recipient=${encodeURIComponent(spelling)}` as const;
      const { calls } = (await api.approving.proxy.get(auditor, path).expect(200)).body;
      expect([spelling, calls.map(({ id }) => id)]).toEqual([spelling, [headers['x-call-id']]]);
    }
  });

  it('cannot be allowed by a register entry with a number of no country', async () => {
    const { name } = await api.client();
    for (const recipient of ['+25471234567', '+999123456789']) {
      await api.change(name, { list: 'blocked', add: [recipient] }).expect(400);
    }
  });
});

function recipientOf(body: object): string {
  const { airtimes, credits, receiver } = body as Record<string, unknown> & {
    airtimes?: { phoneNumber: string }[];
    credits?: { email: string }[];
    receiver?: string;
  };
  return airtimes?.[0]?.phoneNumber ?? credits?.[0]?.email ?? `receiver:${receiver}`;
}
