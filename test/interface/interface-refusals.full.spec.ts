import { UNKNOWN_FIELD } from '../../src/http/validation/faults';
import { OTHER_TYPE } from '../../src/http/validation/json-body';
import {
  airtimeItem,
  creditItem,
  ExpectedFault,
  startInterface,
  TestInterface,
} from '../support/http/interface';
import supertest from '../support/http/supertest';

/** The record of a refused request is permanent, so it must not contain anything from the body. */
describe('the record of a refused request', () => {
  let api: TestInterface;

  beforeAll(async () => {
    api = await startInterface();
  });
  afterAll(() => api.close());

  const PERSON = ['ada@example', 'lovelace', '2348012', '@ada', 'secret'];

  it.each([
    [
      'wrong values',
      { credit: [{ email: 'ada@example', twitter: 'lovelace', valueInUSD: '+2348012345678' }] },
    ],
    [
      'unknown fields named after people',
      { 'ada@example.com': 1, credit: [{ '+2348012345678': { '@ada': 1 }, secret: 'secret' }] },
    ],
    ['a person in the list', { credit: { 'ada@example.com': { constructor: 1 } } }],
    ['a person as the list', { credit: 'ada@example.com' }],
    ['a description that is an object', { description: { lovelace: 'secret' }, credit: ['ada@example.com'] }],
  ])('contains no name and no value of %s', async (_what, body) => {
    const { headers } = await api.post('/send', body).expect(400);
    await expectNothingOf(headers['x-call-id'] as string);
  });

  it.each([
    ['malformed JSON', '{"email":"ada@example.com" secret}'],
    ['malformed JSON that begins with a person', 'ada@example.com'],
    ['duplicate names', '{"ada@example.com":1,"ada@example.com":2,"credit":{"@ada":1,"@ada":2}}'],
  ])('contains no name and no value of %s', async (_what, body) => {
    const { headers } = await api.postRaw('/send', body).expect(400);
    await expectNothingOf(headers['x-call-id'] as string);
  });

  it('contains nothing of a query', async () => {
    const { headers } = await api
      .get('/wallets/list?ada@example.com=secret&lovelace=%2B2348012345678')
      .expect(400);
    await expectNothingOf(headers['x-call-id'] as string);
  });

  it('returns 400 for unsupported query parameters, and lists each', async () => {
    const detail = /^must not be sent as a query parameter, .*\. Send its input as JSON in the body$/;
    const query = '?subAccount=branch-1&dry_run=true';
    const airtimes = { airtimes: [airtimeItem()] };
    const faults = [
      { pointer: '/subAccount', detail },
      { pointer: '/dry_run', detail },
    ];
    await api.expectRefused(api.post(`/payouts/airtime${query}`, airtimes), faults);
    await api.expectRefused(api.post(`/wallets/transfer?subAccount=`, {}), [
      { pointer: '/subAccount', detail },
    ]);
    const previewed = await supertest(api.proxy.url)
      .post(`/v1/preview/payouts/airtime${query}`)
      .set('X-API-Key', api.app)
      .send(airtimes);
    expect(previewed.body).toMatchObject({ status: 400, action: 'fix_request', errors_total: 2 });
  });

  it('returns 400 for an unknown query parameter of a read', () =>
    api.expectRefused(api.get('/wallets/list?subAccount=branch-1'), [
      { pointer: '/subAccount', detail: /^must not be sent, because it is not a field/ },
    ]));

  it('returns 403 first if the key may not use the operation', async () => {
    const { key } = await api.proxy.client('reader', 'read');
    const { body } = await api.proxy.post(key, '/payouts/airtime?subAccount=x', {}).expect(403);
    expect(body).toMatchObject({ code: 'scope_missing', action: 'ask' });
  });

  async function expectNothingOf(callId: string): Promise<void> {
    const rows = await api.proxy.database.query('SELECT r::text AS row FROM refusal r WHERE id = $1', [
      callId,
    ]);
    expect(rows).toHaveLength(1);
    for (const word of PERSON) expect(rows[0]?.row).not.toContain(word);
  }

  it('contains the positions of faults, and names of interface fields', async () => {
    const body = { credit: [{ colour: 1, email: 'ada', valueInUSD: 1 }] };
    const { headers, body: answer } = await api.post('/send', body).expect(400);
    expect(answer.errors?.[0]).toEqual({ pointer: '/credit/0/colour', detail: UNKNOWN_FIELD });
    const { refusal } = await api.record(headers['x-call-id'] as string);
    expect(refusal!.errors.map(({ pointer }) => pointer)).toEqual(['/credit/0/…', '/credit/0/email']);
  });

  it('contains the first hundred faults and their total, like the response', async () => {
    const airtimes = Array.from({ length: 600 }, () => ({
      countryToSend: 'Kenya',
      phoneNumber: 'x',
      valueInUSD: 0,
    }));
    const { headers, body } = await api.post('/payouts/airtime', { airtimes }).expect(400);
    expect([body.errors?.length, body.errors_total]).toEqual([100, 1_200]);
    expect(body.error).toMatch(/airtimes\/0\/phoneNumber: must be a phone number.* \(and 1199 more\)\.$/);
    const { refusal } = await api.record(headers['x-call-id'] as string);
    expect([refusal!.errors.length, refusal!.error_count]).toEqual([100, 1_200]);
  });

  it.each([
    [
      'unknown fields',
      `{${Array.from({ length: 1_900 }, (_, at) => `"f${at}":1`).join()},"airtimes":[]}`,
      1_901,
    ],
    ['duplicate fields', `{${Array.from({ length: 3_800 }, (_, at) => `"f${at % 1_900}":1`).join()}}`, 1_900],
    ['items without fields', `{"airtimes":[${'{},'.repeat(999)}{}]}`, 3_000],
    ['items of another kind', `{"airtimes":[${'1,'.repeat(1_999)}1]}`, 1_001],
  ])(
    'reports the first 100 faults of a body with thousands of %s, and their total',
    async (_what, body, total) => {
      const answer = await api.postRaw('/payouts/airtime', body).expect(400);
      expect(answer.body).toMatchObject({ errors: { length: 100 }, errors_total: total });
      expect(answer.body.error).toMatch(new RegExp(` \\(and ${total - 1} more\\)\\.$`));
      expect(answer.text.length).toBeLessThan(25_000);
      const { refusal } = await api.record(answer.headers['x-call-id'] as string);
      expect([refusal!.errors.length, refusal!.error_count]).toEqual([100, total]);
    },
  );

  it('is found by its outcome, with its author and operation', async () => {
    const { headers } = await api.post('/send', {}).set('X-Request-Id', 'mine-17').expect(400);
    const { body } = await api.proxy
      .get(api.auditor, '/v1/audit/calls?outcome=refused&page_size=1')
      .expect(200);
    expect(body.calls).toMatchObject([
      {
        id: headers['x-call-id'],
        operation: 'POST /send',
        outcome: 'refused',
        request_id: 'mine-17',
        client: { name: 'shop' },
        refusal: { status: 400, code: 'invalid_request' },
      },
    ]);
  });

  it('does not exist for an unknown caller', async () => {
    const [before] = await api.proxy.database.query('SELECT count(*) FROM refusal');
    await api.proxy.post('pp_nobody_x', '/send', {}).expect(401);
    expect(await api.proxy.database.query('SELECT count(*) FROM refusal')).toEqual([before]);
  });
});

/** Bodies of clients that do not state the type of JSON. */
describe('JSON', () => {
  let api: TestInterface;

  beforeAll(async () => {
    api = await startInterface();
  });
  afterAll(() => api.close());

  const wholeBody = (detail: RegExp): ExpectedFault[] => [{ pointer: '', detail }];

  describe.each(['text/plain', 'Text/Plain;charset=UTF-8', 'application/x-www-form-urlencoded'])(
    'sent as %s',
    (type) => {
      const headers = { 'Content-Type': type };

      it('is read and forwarded as JSON', async () => {
        const body = { credit: [creditItem()], description: 'Prizes' };
        await api.postRaw('/send', JSON.stringify(body), headers).expect(200);
        const [sent] = api.upstream.received.slice(-1);
        expect(sent?.headers['content-type']).toMatch(/^application\/json/);
        expect(JSON.parse(String(sent?.body))).toEqual(body);
      });

      it('is rejected like other JSON if it is malformed, invalid or too large', async () => {
        await api.expectRefused(
          api.postRaw('/send', 'credit=1', headers),
          wholeBody(/^the body must be valid JSON/),
        );
        await api.expectRefused(api.postRaw('/send', '{"credit":[],"credit":[]}', headers), [
          { pointer: '/credit', detail: /^must be given only once/ },
        ]);
        await api.expectRefused(api.postRaw('/send', '{}', headers), [
          { pointer: '/credit', detail: /^is required and must/ },
        ]);
        const tooLarge = wholeBody(/^the body must be at most 1048576 bytes$/);
        await api.expectRefused(api.postRaw('/send', `"${'x'.repeat(1_048_576)}"`, headers), tooLarge);
      });

      it('is rejected with a console session, whose cookie a page of another origin could send', async () => {
        const { url } = api.proxy;
        const signedIn = await supertest(url).post('/v1/session').set('X-API-Key', api.auditor).expect(200);
        const { body } = await supertest(url)
          .post('/v1/preview/send')
          .set({
            ...headers,
            Cookie: String(signedIn.headers['set-cookie']).split(';')[0] ?? '',
            'X-CSRF-Token': signedIn.body.csrf_token,
          })
          .send(JSON.stringify({ credit: [creditItem()] }));
        expect(body).toMatchObject({
          status: 400,
          code: 'invalid_request',
          errors: [{ detail: `the body ${OTHER_TYPE}` }],
        });
      });
    },
  );
});
