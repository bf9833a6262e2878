import { ServerResponse } from 'node:http';
import { answer, FakeUpstream } from '../support/network/fake-upstream';
import { eventually } from '../support/payments/paying';
import { startProxy, TestProxy } from '../support/processes/proxy';

const COUNTRIES = { status: 'success', data: ['Nigeria', 'Kenya'] };

describe('an info operation', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let shop: string;
  let bank: string;
  let auditor: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    shop = (await proxy.client('shop', 'read')).key;
    bank = (await proxy.client('bank', 'read')).key;
    auditor = (await proxy.client('auditor', 'audit', 'audit:pii')).key;
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });
  beforeEach(() => {
    upstream.received.length = 0;
    upstream.behaviour = answer(200, COUNTRIES);
  });

  // The tests share one cache, so their requests differ.
  const countries = (key: string) => proxy.get(key, '/api/v0.1/info/airtime-countries');
  const codes = (key: string) => proxy.get(key, '/api/v0.1/info/mobile-money-codes');
  const assets = (key: string) => proxy.get(key, '/api/v0.1/info/assets');
  const convert = (amount: number) =>
    proxy.get(shop, `/api/v0.1/info/usd-amount-in-local?destinationCurrency=KES&amountInUSD=${amount}`);
  const recordOf = async ({ headers }: { headers: Record<string, string> }) =>
    (await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200)).body;

  it('requests the upstream once, returns its bytes and their age, and records each call', async () => {
    const first = await countries(shop).expect(200);
    expect(first.headers).not.toHaveProperty('age');
    const second = await countries(bank).expect(200);
    expect(second.headers.age).toMatch(/^\d+$/);
    expect([second.text, second.headers['content-type']]).toEqual([
      first.text,
      first.headers['content-type'],
    ]);
    expect(upstream.received).toHaveLength(1);

    const [fetched, given] = [await recordOf(first), await recordOf(second)];
    expect(fetched.upstream).toMatchObject({ status: 200, answer_of: null });
    expect(given).toMatchObject({
      outcome: 'succeeded',
      client: { name: 'bank' },
      upstream: { answer_of: fetched.id },
    });
    expect(given.response?.body).toEqual(COUNTRIES);
    expect(given.timings).toMatchObject({
      sent_at: fetched.timings.sent_at,
      upstream_ms: fetched.timings.upstream_ms,
    });
    const ids = [fetched.id, given.id];
    const bodies = await proxy.database.query(
      'SELECT intent_id FROM outcome_body WHERE intent_id = ANY ($1)',
      [ids],
    );
    expect(bodies).toEqual([{ intent_id: fetched.id }]); // stored once
  });

  it('shares one response among concurrent requests', async () => {
    const waiting: ServerResponse[] = [];
    upstream.behaviour = (_request, response) => waiting.push(response);
    const requests = Array.from({ length: 20 }, (_, i) =>
      codes(i % 2 ? shop : bank).then((response) => response),
    );
    const opened = `SELECT count(*)::int AS calls FROM intent
      WHERE operation = 'GET /info/mobile-money-codes'`;
    await eventually(async () => (await proxy.database.query(opened))[0]?.calls === 20 && waiting.length > 0);
    for (const response of waiting) answer(200, COUNTRIES)({} as never, response, {} as never);
    const answers = await Promise.all(requests);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(upstream.received).toHaveLength(1);
    const ids = answers.map(({ headers }) => headers['x-call-id']);
    const given =
      "SELECT FROM outcome WHERE record::json ->> 'answer_of' IS NOT NULL AND intent_id = ANY ($1)";
    expect(await proxy.database.query(given, [ids])).toHaveLength(19);
  });

  it('withholds a response whose record was lost', async () => {
    await proxy.database.query('ALTER TABLE outcome RENAME TO gone');
    await assets(shop).expect(502);
    await proxy.database.query('ALTER TABLE gone RENAME TO outcome');
    const { headers } = await assets(bank).expect(200);
    expect(headers).not.toHaveProperty('age');
    expect(upstream.received).toHaveLength(2);
  });

  it('caches different requests separately', async () => {
    upstream.behaviour = ({ url }, response, socket) =>
      answer(200, { status: 'success', data: { url } })({} as never, response, socket);
    const [ten, twenty, again] = [await convert(10), await convert(20), await convert(10)];
    expect(upstream.received).toHaveLength(2);
    expect(again.text).toBe(ten.text);
    expect(twenty.text).not.toBe(ten.text);
  });

  it('caches a conversion only while it is valid', async () => {
    upstream.behaviour = answer(200, { status: 'success', data: { validUntil: new Date().toISOString() } });
    await convert(30).expect(200);
    await convert(30).expect(200);
    expect(upstream.received).toHaveLength(2);
  });

  it.each([
    ['a refusal', answer(400, { status: 'error', error: 'no' }), 400, 41],
    ['an error within a success', answer(200, { status: 'success', data: { error: 'no' } }), 200, 42],
    ['a failure', answer(503, 'busy'), 502, 43],
  ])('does not cache %s', async (_what, behaviour, status, amount) => {
    upstream.behaviour = behaviour;
    await convert(amount).expect(status);
    upstream.behaviour = answer(200, COUNTRIES);
    const { headers, text } = await convert(amount).expect(200);
    expect(headers).not.toHaveProperty('age');
    expect(JSON.parse(text)).toEqual(COUNTRIES);
  });
});
