import { momoItem, startInterface, TestInterface } from '../../support/http/interface';
import { expectFaults, startRules, TestRules } from '../../support/http/rules';

/** An item has an email or a handle. The email wins (docs/reference/upstream.md, "Credit item"). */
describe('the recipient', () => {
  let api: TestInterface;
  let rules: TestRules;

  beforeAll(async () => {
    [api, rules] = await Promise.all([startInterface(), startRules()]);
  });
  afterAll(async () => {
    await rules.close();
    await api.close();
  });

  const operations = [
    { path: '/send', list: 'credit' },
    { path: '/payouts/credit', list: 'credits' },
    { path: '/payouts/initiate-credit', list: 'credits' },
  ];

  /** Items with their recorded recipients. */
  const recorded: [item: object, recipient: object, field: string, note: string | null][] = [
    [{ email: 'ada@example.com' }, { email: 'ada@example.com', handle: null }, 'email', null],
    [{ twitter: '@ada' }, { email: null, handle: '@ada' }, 'handle', null],
    [
      { twitter: '@ada', email: 'ada@example.com' },
      { email: 'ada@example.com', handle: '@ada' },
      'email',
      'Both an email and a handle were given. The email is used.',
    ],
    [{ email: 'ada@example.com', twitter: '' }, { email: 'ada@example.com', handle: null }, 'email', null],
    ...[
      'ada+prizes@example.com',
      "o'brien@example.com",
      'ADA@Example.COM',
      'ada@sub.example.co',
      'ädä@xn--exmple-cua.com',
    ].map((email): [object, object, string, null] => [{ email }, { email, handle: null }, 'email', null]),
    ...['@a', '@Ada_Lovelace', '@ada.lovelace-1', `@${'a'.repeat(64)}`].map(
      (twitter): [object, object, string, null] => [
        { twitter },
        { email: null, handle: twitter },
        'handle',
        null,
      ],
    ),
  ];

  describe.each(operations)('by POST $path', ({ path, list }) => {
    it('is forwarded unchanged, and recorded as the email, otherwise the handle', async () => {
      const body = { [list]: recorded.map(([item]) => ({ ...item, valueInUSD: 1 })) };
      const response = await api.post(path, body).expect(200);
      const sent = JSON.parse(api.upstream.received.at(-1)?.body ?? '') as typeof body;
      expect(sent[list]).toEqual(body[list]);
      const { items } = await api.record(response.headers['x-call-id'] as string);
      expect(items).toMatchObject(
        recorded.map(([, recipient, recipient_field, note]) => ({ recipient, recipient_field, note })),
      );
    });

    it.each([
      ['neither', {}],
      ['an empty handle alone', { twitter: '' }],
    ])('is rejected if it is %s, with the valid forms', async (_what, recipient) => {
      await expectFaults(rules.post(path, { [list]: [{ ...recipient, valueInUSD: 1 }] }), [
        {
          pointer: `/${list}/0/email`,
          detail: /^is required and must be an email .*, or absent if twitter names/,
        },
      ]);
    });

    it('is rejected if either the email or the handle is invalid', async () => {
      const items = [
        { email: 'ada', twitter: '@ada', valueInUSD: 1 },
        { email: '', twitter: '@ada', valueInUSD: 1 },
        { email: 'ada@example.com', twitter: 'ada', valueInUSD: 1 },
      ];
      await expectFaults(rules.post(path, { [list]: items }), [
        { pointer: `/${list}/0/email`, detail: /email/ },
        { pointer: `/${list}/1/email`, detail: /email/ },
        { pointer: `/${list}/2/twitter`, detail: /begins with @/ },
      ]);
    });
  });

  it('is recorded by phone, country, network, and reference or payout ID', async () => {
    const momos = [momoItem(), { ...momoItem(), phoneNumber: '+2348012345679', reference: 'invoice-17' }];
    const response = await api.post('/payouts/mobile-money', { momos }).expect(200);
    const id = response.headers['x-call-id'] as string;
    const { items } = await api.record(id);
    const reference = `${id}.0`;
    expect(JSON.parse(api.upstream.received.at(-1)?.body ?? '')).toMatchObject({
      momos: [{ reference }, { reference: 'invoice-17' }],
    });
    expect(items).toMatchObject([
      { recipient: { phone: '+2348012345678' }, recipient_field: 'phone', reference, network_code: 'MPS' },
      {
        recipient: { phone: '+2348012345679' },
        country: 'Nigeria',
        reference: 'invoice-17',
        amount_usd: '0.25',
      },
    ]);
  });

  it('is the sub-account for a transfer, with an optional amount and wallet', async () => {
    const response = await api.post('/account/transfer', { receiver: 'sub-account-1' }).expect(200);
    expect(api.upstream.received.at(-1)?.body).toBe('{"receiver":"sub-account-1"}');
    expect((await api.record(response.headers['x-call-id'] as string)).items).toMatchObject([
      {
        recipient: { receiver: 'sub-account-1' },
        recipient_field: 'receiver',
        amount_usd: null,
        wallet: null,
      },
    ]);
    await expectFaults(rules.post('/account/transfer', { amount: 'five', wallet: 5 }), [
      { pointer: '/receiver', detail: /^is required and must be text/ },
      { pointer: '/amount', detail: /number of US dollars/ },
      { pointer: '/wallet', detail: /must be text/ },
    ]);
  });

  it('is replaced by the transaction in the record of a deletion', async () => {
    const response = await api.post('/account/delete-unpaid-transaction', { chiRef: 'ref-1' }).expect(200);
    expect((await api.record(response.headers['x-call-id'] as string)).items).toMatchObject([
      { upstream_ref: 'ref-1', recipient_field: null },
    ]);
    for (const chiRef of ['', 5, null, ['ref-1'], 'a\nb']) {
      await expectFaults(rules.post('/account/delete-unpaid-transaction', { chiRef }), [
        { pointer: '/chiRef', detail: /must be text of 1 to 100 characters/ },
      ]);
    }
  });
});
