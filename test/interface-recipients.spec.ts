import { momoItem, startInterface, TestInterface } from './support/interface';

/** interface.md, "Credit item": each item carries an e-mail or a handle; with both, the e-mail is used. */
describe('who is paid', () => {
  let api: TestInterface;

  beforeAll(async () => {
    api = await startInterface();
  });
  afterAll(() => api.close());

  const operations = [
    { path: '/send', list: 'credit' },
    { path: '/payouts/credit', list: 'credits' },
    { path: '/payouts/initiate-credit', list: 'credits' },
  ];

  describe.each(operations)('by POST $path', ({ path, list }) => {
    async function pay(item: object) {
      const body = { [list]: [{ ...item, valueInUSD: 1 }] };
      const response = await api.post(path, body).expect(200);
      expect(api.upstream.received.at(-1)?.body).toBe(JSON.stringify(body)); // as given, whatever is used
      return (await api.record(response.headers['x-call-id'] as string)).items[0] as unknown;
    }

    it('an e-mail alone is the recipient', async () => {
      expect(await pay({ email: 'ada@example.com' })).toMatchObject({
        recipient: { email: 'ada@example.com', handle: null },
        recipient_field: 'email',
        note: null,
      });
    });

    it('a handle alone is the recipient', async () => {
      expect(await pay({ twitter: '@ada' })).toMatchObject({
        recipient: { email: null, handle: '@ada' },
        recipient_field: 'twitter',
        note: null,
      });
    });

    it('with both the e-mail is used, and the record says so', async () => {
      expect(await pay({ twitter: '@ada', email: 'ada@example.com' })).toMatchObject({
        recipient: { email: 'ada@example.com', handle: '@ada' },
        recipient_field: 'email',
        note: 'e-mail and handle were given: the e-mail is used',
      });
    });

    it('an empty handle beside an e-mail is no handle, and is forwarded as given', async () => {
      expect(await pay({ email: 'ada@example.com', twitter: '' })).toMatchObject({
        recipient: { email: 'ada@example.com', handle: null },
        recipient_field: 'email',
        note: null,
      });
    });

    it.each([
      ['neither', {}],
      ['an empty handle alone', { twitter: '' }],
    ])('%s is refused, saying what may stand instead', async (_what, recipient) => {
      await api.expectRefused(api.post(path, { [list]: [{ ...recipient, valueInUSD: 1 }] }), [
        { pointer: `/${list}/0/email`, detail: /^is missing; it must be an e-mail .*; leave it out if twitter names/ },
      ]);
    });

    it('a bad e-mail is refused beside a good handle, and a bad handle beside a good e-mail', async () => {
      const items = [
        { email: 'ada', twitter: '@ada', valueInUSD: 1 },
        { email: '', twitter: '@ada', valueInUSD: 1 },
        { email: 'ada@example.com', twitter: 'ada', valueInUSD: 1 },
      ];
      await api.expectRefused(api.post(path, { [list]: items }), [
        { pointer: `/${list}/0/email`, detail: /e-mail/ },
        { pointer: `/${list}/1/email`, detail: /e-mail/ },
        { pointer: `/${list}/2/twitter`, detail: /begins with @/ },
      ]);
    });

    it.each([
      'ada+prizes@example.com',
      "o'brien@example.com",
      'ADA@Example.COM',
      'ada@sub.example.co',
      'ädä@exämple.com',
    ])('the address %s is taken as it is', async (email) => {
      expect(await pay({ email })).toMatchObject({ recipient: { email } });
    });

    it.each(['@a', '@Ada_Lovelace', '@ada.lovelace-1', `@${'a'.repeat(64)}`])(
      'the handle %s is taken',
      async (twitter) => {
        expect(await pay({ twitter })).toMatchObject({ recipient: { handle: twitter } });
      },
    );
  });

  it('by phone, country and network: the record names them, with a reference that may be empty', async () => {
    const momos = [momoItem(), { ...momoItem(), phoneNumber: '+1234567', reference: 'invoice-17' }];
    const response = await api.post('/payouts/mobile-money', { momos }).expect(200);
    const { items } = await api.record(response.headers['x-call-id'] as string);
    expect(items).toMatchObject([
      { recipient: { phone: '+2348012345678' }, recipient_field: 'phoneNumber', reference: '', network_code: 'MPS' },
      { recipient: { phone: '+1234567' }, country: 'Nigeria', reference: 'invoice-17', amount_usd: '0.25' },
    ]);
  });

  it('by transfer: the sub-account, with amount and wallet that may be left out', async () => {
    const response = await api.post('/account/transfer', { receiver: 'sub-account-1' }).expect(200);
    expect(api.upstream.received.at(-1)?.body).toBe('{"receiver":"sub-account-1"}');
    expect((await api.record(response.headers['x-call-id'] as string)).items).toMatchObject([
      { recipient: { receiver: 'sub-account-1' }, recipient_field: 'receiver', amount_usd: null, wallet: null },
    ]);
    await api.expectRefused(api.post('/account/transfer', { amount: '5', wallet: 5 }), [
      { pointer: '/receiver', detail: /^is missing; it must be text/ },
      { pointer: '/amount', detail: /number of US dollars/ },
      { pointer: '/wallet', detail: /must be text/ },
    ]);
  });

  it('a deletion names its transaction, which the record keeps', async () => {
    const response = await api.post('/account/delete-unpaid-transaction', { chiRef: 'ref-1' }).expect(200);
    expect((await api.record(response.headers['x-call-id'] as string)).items).toMatchObject([
      { upstream_ref: 'ref-1', recipient_field: null },
    ]);
    for (const chiRef of ['', 5, null, ['ref-1'], 'a\nb']) {
      await api.expectRefused(api.post('/account/delete-unpaid-transaction', { chiRef }), [
        { pointer: '/chiRef', detail: /must be text of 1 to 100 characters/ },
      ]);
    }
  });
});
