import { momoItem } from '../../support/http/interface';
import { answer, FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const CALLS = '/v1/audit/calls';
const PERSON = {
  email: 'ada.lovelace@example.com',
  handle: '@AdaLovelace',
  phone: '+2348012345678',
  shortPhone: '+29051234',
};

/** Readers without `audit:pii` see no people in any part of a record. */
describe('people in the history', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;
  let rival: string;
  let auditor: string;
  let seeing: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    ({ key: app } = await proxy.client('shop', 'pay', 'write', 'read', 'account'));
    ({ key: rival } = await proxy.client('rival', 'pay', 'write', 'read', 'account'));
    ({ key: auditor } = await proxy.client('auditor', 'audit'));
    ({ key: seeing } = await proxy.client('seeing', 'audit', 'audit:pii'));
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  /** Answers with people in fields, in sentences, as names of a map, and as numbers. */
  const TALKATIVE = {
    status: 'success',
    message: `paid ${PERSON.email}`,
    data: {
      error:
        `${PERSON.phone} and 2348012345678 (+234 801 234 5678) of ${PERSON.email} or ${PERSON.handle}: ` +
        'not valid',
      data: [
        {
          chiRef: 'chi-1',
          id: 'transaction-1',
          issueID: 'uid_7.5_1700000000000',
          status: `sent to ${PERSON.phone}`,
          email: PERSON.email,
          twitter: PERSON.handle,
          phoneNumber: PERSON.phone,
          phone: 2348012345678,
          valueInUSD: '3.5',
          credit: 3500,
          fee: 0.1,
          reference: PERSON.email,
          issueDate: '2026-11-20T08:00:00.000Z',
          redeemLink: 'https://pay.example.com/ada.lovelace',
          meta: { name: 'Ada Lovelace', list: [PERSON.phone, 2348012345678] },
        },
      ],
      payouts: {
        [PERSON.phone]: { [PERSON.email]: 1, '2348012345678': true },
        issueID: 'uid_7.5_1700000000000',
      },
      credit: [PERSON.email, 2348012345678],
    },
  };

  async function pay(): Promise<string> {
    upstream.behaviour = answer(200, TALKATIVE);
    const credits = [{ email: PERSON.email, twitter: PERSON.handle, valueInUSD: 3.5 }];
    return (await proxy.post(app, '/payouts/credit', { credits }).expect(200)).headers['x-call-id'] as string;
  }

  function expectNoPeople(shown: unknown): void {
    const text = JSON.stringify(shown).toLowerCase();
    for (const part of ['lovelace', '8012345678', '801 234 5678', '1234567', '@ada'])
      expect(text).not.toContain(part);
  }

  it('are masked in every part of a call without `audit:pii`: items, request and response', async () => {
    const id = await pay();
    const { body } = await proxy.get(auditor, `${CALLS}/${id}`).expect(200);
    expectNoPeople(body);
    expect(body.items[0]?.recipient).toEqual({
      email: 'a••@example.com',
      handle: '@A••',
      phone: null,
      receiver: null,
    });
    expect(body.request?.body).toMatchObject({
      credits: [{ email: '••••', twitter: '••••', valueInUSD: 3.5 }],
    });
  });

  it('are masked, while shapes, amounts, IDs, times and error flags stay readable', async () => {
    const { response } = (await proxy.get(auditor, `${CALLS}/${await pay()}`).expect(200)).body;
    expect(response?.body).toMatchObject({
      status: 'success',
      data: {
        error: expect.stringMatching(/: not valid$/),
        data: [
          {
            chiRef: 'chi-1',
            id: 'transaction-1',
            issueID: 'uid_7.5_1700000000000',
            valueInUSD: '3.5',
            credit: 3500,
            fee: 0.1,
            issueDate: '2026-11-20T08:00:00.000Z',
          },
        ],
        payouts: { issueID: 'uid_7.5_1700000000000' },
      },
    });
  });

  it('are masked in lists', async () => {
    await pay();
    expectNoPeople((await proxy.get(auditor, CALLS).expect(200)).body);
    // Masked results can still be found by recipient.
    const { body } = await proxy
      .get(seeing, `${CALLS}?recipient=${PERSON.email}`)
      .set('X-People', 'masked')
      .expect(200);
    expect(body.calls.length).toBeGreaterThan(0);
    expectNoPeople(body);
  });

  it('are masked in free text of callers: references, countries, wallets and IDs', async () => {
    upstream.behaviour = answer(500, { status: 'error', error: `momo of ${PERSON.phone} failed` });
    const contact = `for ${PERSON.email}, ${PERSON.handle} ${PERSON.phone}`;
    const momo = {
      ...momoItem(),
      countryToSend: contact,
      reference: contact,
      phoneNumber: PERSON.shortPhone,
    };
    const calls = [
      await proxy
        .post(app, '/payouts/mobile-money', { momos: [{ ...momo, momoCode: PERSON.email }] })
        .expect(500),
      await proxy
        .post(app, '/account/transfer', { receiver: PERSON.email, wallet: PERSON.email })
        .set('X-Request-Id', PERSON.email)
        .expect(500),
      await proxy.post(app, '/account/delete-unpaid-transaction', { chiRef: contact }).expect(500),
      await proxy.get(app, `/api/v0.1/account/transaction?id=${encodeURIComponent(contact)}`).expect(500),
    ];
    for (const { headers } of calls) {
      expectNoPeople((await proxy.get(auditor, `${CALLS}/${headers['x-call-id']}`).expect(200)).body);
      const { body } = await proxy.get(seeing, `${CALLS}/${headers['x-call-id']}`).expect(200);
      // Only the body, which can be erased, has the original. A query is part of the record.
      expect(/lovelace/.test(JSON.stringify(body))).toBe(body.operation !== 'GET /account/transaction');
    }
    expectNoPeople((await proxy.get(auditor, CALLS).expect(200)).body);
  });

  it('are hidden together with a response that is not JSON', async () => {
    upstream.behaviour = answer(502, `<p>${PERSON.email}</p>`);
    const { headers } = await proxy.post(app, '/payouts/airtime', {
      airtimes: [{ countryToSend: 'Nigeria', phoneNumber: PERSON.phone, valueInUSD: 1 }],
    });
    const { body } = await proxy.get(auditor, `${CALLS}/${headers['x-call-id']}`).expect(200);
    expectNoPeople(body);
    expect([body.response?.body, body.items[0]?.recipient.phone]).toEqual(['••••', '+234••••5678']);
  });

  it('are shown unmasked with `audit:pii`', async () => {
    const { body } = await proxy.get(seeing, `${CALLS}/${await pay()}`).expect(200);
    expect(body.items[0]?.recipient).toMatchObject({ email: PERSON.email, handle: PERSON.handle });
    expect(body.response?.body).toEqual(TALKATIVE);
  });

  describe('in own calls', () => {
    it('are shown unmasked to the client, for a key that may read', async () => {
      const { body } = await proxy.get(app, `/v1/calls/${await pay()}`).expect(200);
      expect(body).toMatchObject({ outcome: 'succeeded', items: [{ recipient: { email: PERSON.email } }] });
      expect(body.response?.body).toEqual(TALKATIVE);
    });

    it('are hidden from other clients, which get 404, also for refusals', async () => {
      const { headers } = await proxy.post(app, '/send', {}).expect(400);
      const refused = headers['x-call-id'] as string;
      await proxy.get(app, `/v1/calls/${refused}`).expect(200);
      const absent = '01a1fb98-53b1-7069-a17f-af1e8cacb634';
      for (const id of [await pay(), refused, absent]) {
        const { body } = await proxy
          .get(rival, `/v1/calls/${id}`)
          .expect(404)
          .expect('Content-Type', /problem\+json/);
        expect({ ...body, call_id: '' }).toEqual({
          type: 'about:blank',
          title: 'call not found',
          status: 404,
          code: 'call_not_found',
          call_id: '',
          detail: 'You have no call with this ID.',
          error: 'You have no call with this ID.',
          action: 'fix_request',
        });
      }
    });

    it.each([
      'x',
      '1',
      'null',
      '%00',
      "'--",
      '01a1fb98-53b1-7069-a17f-af1e8cacb63',
      'undefined',
      '01a1fb9853b17069a17faf1e8cacb634',
    ])('are not found by an invalid ID: %s', async (id) => {
      expect((await proxy.get(app, `/v1/calls/${id}`).expect(404)).body.code).toBe('call_not_found');
      expect((await proxy.get(auditor, `${CALLS}/${id}`).expect(404)).body.code).toBe('call_not_found');
    });

    it('are found by an ID in upper case', async () => {
      const id = await pay();
      expect((await proxy.get(app, `/v1/calls/${id.toUpperCase()}`).expect(200)).body.id).toBe(id);
    });
  });
});
