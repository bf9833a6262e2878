import { RunningConfig } from '../src/platform/config/config';
import type { CallRecord } from './support/api';
import { answer, Behaviour, FakeUpstream, hang, reset } from './support/fake-upstream';
import { createClient } from './support/fleet';
import { eventually } from './support/paying';
import { startProxy, TestProxy } from './support/proxy';
import { createTestDatabase, TestDatabase } from './support/test-database';

const COUNTRIES = { status: 'success', data: ['Nigeria', 'Kenya'] };
const CODES = {
  status: 'success',
  data: [
    { name: 'M-Pesa', country: 'Kenya', code: 'MPS' },
    { name: 'MTN', country: "Côte d'Ivoire", code: 'MTN' },
  ],
};
const item = (countryToSend: string) => ({ countryToSend, phoneNumber: '+254712345678', valueInUSD: 1 });
const airtime = (...countries: string[]) => ({ airtimes: countries.map(item) });
const momo = (country: string, momoCode: string) => ({ momos: [{ ...item(country), momoCode, reference: '' }] });

describe('countries and networks that the upstream does not serve', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;
  let auditor: string;
  let countries: Behaviour;
  let payouts: Behaviour;
  /** When the test began. */
  let begun: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    app = (await createClient(database, 'app', ['pay'])).key;
    auditor = (await createClient(database, 'auditor', ['audit'])).key;
    upstream = await FakeUpstream.start();
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
  });
  beforeEach(() => {
    begun = new Date().toISOString();
    upstream.received.length = 0;
    countries = answer(200, COUNTRIES);
    payouts = answer(200, { status: 'success', data: { error: 'None' } });
    upstream.behaviour = (request, response, socket) => {
      const lists: Record<string, Behaviour> = {
        '/api/v0.1/info/airtime-countries': countries,
        '/api/v0.1/info/mobile-money-codes': answer(200, CODES),
      };
      return (lists[request.url] ?? payouts)(request, response, socket);
    };
  });
  afterEach(() => proxy.close());

  /** Each test has a proxy of its own, which knows no list yet. */
  async function startWith(settings: Partial<RunningConfig>): Promise<void> {
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, checkCoverage: true, ...settings }, database);
  }

  const arrived = () => upstream.received.map(({ url }) => url.replace('/api/v0.1', ''));
  const calls = async () =>
    (await proxy.get(auditor, `/v1/audit/calls?from=${begun}`).expect(200)).body.calls as CallRecord[];
  const recordOf = async (headers: Record<string, string>) =>
    (await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200)).body;

  it('are rejected before money moves, with the valid values, and recorded', async () => {
    await startWith({});
    const { body, headers } = await proxy.post(app, '/payouts/airtime', airtime('Kenya', 'France')).expect(400);
    expect(body).toMatchObject({
      status: 'error',
      code: 'not_served',
      errors: [{ pointer: '/airtimes/1/countryToSend', detail: 'is not served, and must be one of Kenya, Nigeria' }],
    });
    expect(arrived()).toEqual(['/info/airtime-countries']);
    expect(await recordOf(headers)).toMatchObject({
      outcome: 'refused',
      refusal: { status: 400, code: 'not_served', errors: body.errors },
    });
  });

  it('include a network of another country', async () => {
    await startWith({});
    const { body } = await proxy.post(app, '/payouts/mobile-money', momo('Kenya', 'MTN')).expect(400);
    expect(body.errors).toEqual([
      { pointer: '/momos/0/momoCode', detail: 'must be a mobile money network of Kenya: MPS (M-Pesa)' },
    ]);
    await proxy.post(app, '/payouts/mobile-money', momo('COTE D’IVOIRE', 'MTN')).expect(200);
    expect(arrived()).toEqual(['/info/mobile-money-codes', '/payouts/mobile-money']);
  });

  it('are looked up in a list that is read once, on record as caused by the payout', async () => {
    await startWith({});
    const paid = await Promise.all(
      [1, 2, 3, 4, 5].map(() => proxy.post(app, '/payouts/airtime', airtime('kénya')).expect(200)),
    );
    expect(arrived().filter((url) => url.startsWith('/info/'))).toHaveLength(1);
    const all = await calls();
    const [asked, ...others] = all.filter(({ operation }) => operation === 'GET /info/airtime-countries');
    expect(others).toEqual([]);
    expect(asked).toMatchObject({ outcome: 'succeeded', client: { name: 'app' }, coverage: null });
    expect(paid.map(({ headers }) => headers['x-call-id'])).toContain(asked!.caused_by);
    const { text } = await proxy.get(auditor, '/metrics').expect(200);
    expect(text).toContain('payout_proxy_calls_total{operation="GET /info/airtime-countries",outcome="succeeded"} 1');
    const payouts = all.filter(({ operation }) => operation === 'POST /payouts/airtime');
    expect(payouts.map(({ coverage, caused_by }) => [coverage, caused_by])).toEqual(Array(5).fill(['checked', null]));
  });

  it.each<[string, Behaviour, number?]>([
    ['fails', answer(500, { status: 'error', error: 'no' })],
    ['is not there', answer(404, 'nothing')],
    ['is torn down', reset, 3], // what reads is tried again
    ['is no list', answer(200, { status: 'success', data: { countries: [] } })],
    ['is empty', answer(200, { status: 'success', data: [] })],
    ['hides an error', answer(200, { status: 'success', data: { error: 'not found' } })],
  ])('pass unchecked if the list %s, and the next payout does not request it', async (_how, behaviour, times = 1) => {
    countries = behaviour;
    await startWith({});
    const paid = await proxy.post(app, '/payouts/airtime', airtime('France')).expect(200);
    expect(await recordOf(paid.headers)).toMatchObject({ outcome: 'succeeded', coverage: 'unchecked' });
    await proxy.post(app, '/payouts/airtime', airtime('Spain')).expect(200);
    const asked = Array<string>(times).fill('/info/airtime-countries');
    expect(arrived()).toEqual([...asked, '/payouts/airtime', '/payouts/airtime']);
  });

  it('pass unchecked if the list is late, and the request for it is on record', async () => {
    await startWith({ upstreamTimeoutMs: 4_000 });
    countries = hang;
    const paid = await proxy.post(app, '/payouts/airtime', airtime('France')).expect(200);
    expect(await recordOf(paid.headers)).toMatchObject({ coverage: 'unchecked' });
    const outcomes = () =>
      database.query(
        `SELECT kind, failure FROM intent JOIN outcome ON intent_id = id
         WHERE operation = 'GET /info/airtime-countries' AND received_at >= $1`,
        [begun],
      );
    await eventually(async () => (await outcomes()).length > 0);
    expect(await outcomes()).toEqual([{ kind: 'unknown', failure: 'timeout' }]);
  });

  it('are rejected again once the list is available, without delays until then', async () => {
    const pay = () => proxy.post(app, '/payouts/airtime', airtime('France'));
    const asked = () => arrived().filter((url) => url.startsWith('/info/')).length;
    countries = answer(503, 'busy');
    await startWith({});
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now()); // it is not asked for by being slow
    await pay().expect(200);
    countries = answer(200, COUNTRIES);
    clock.mockReturnValue(performance.now() + 4_999);
    for (let times = 0; times < 3; times += 1) await pay().expect(200);
    expect(asked()).toBe(3); // what reads is tried again
    clock.mockReturnValue(performance.now() + 1);
    await eventually(async () => (await pay()).status === 400);
    clock.mockRestore();
    expect(asked()).toBe(3 + 1);
  });

  it('are looked up again once the list is too old', async () => {
    await startWith({ infoCacheTtlSeconds: 0 });
    await proxy.post(app, '/payouts/airtime', airtime('France')).expect(400);
    countries = answer(200, { ...COUNTRIES, data: ['France'] });
    await proxy.post(app, '/payouts/airtime', airtime('France')).expect(200);
  });

  it('are not looked up if the operator disables it, and the record says so', async () => {
    await startWith({ checkCoverage: false });
    const paid = await proxy.post(app, '/payouts/airtime', airtime('France')).expect(200);
    expect(arrived()).toEqual(['/payouts/airtime']);
    expect(await recordOf(paid.headers)).toMatchObject({ coverage: 'unchecked' });
  });

  it('do not affect operations without countries', async () => {
    await startWith({});
    const paid = await proxy.post(app, '/account/transfer', { receiver: 'sub-1', amount: 1 }).expect(200);
    expect(await recordOf(paid.headers)).toMatchObject({ coverage: null });
    expect(arrived()).toEqual(['/account/transfer']);
  });
});
