import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { answer, Behaviour, FakeUpstream, hang, reset } from '../support/network/fake-upstream';
import { eventually } from '../support/payments/paying';
import { createClient } from '../support/processes/fleet';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** How long a list is used: longer than the pause between two attempts to read it. */
const TTL_MS = 60_000;

const now = performance.now.bind(performance);

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
const momo = (country: string, momoCode: string) => ({
  momos: [{ ...item(country), momoCode, reference: '' }],
});

describe('countries and networks without upstream coverage', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;
  let auditor: string;
  let countries: Behaviour;
  let payouts: Behaviour;
  let clock: jest.SpyInstance<number, []>;
  /** How far the monotonic clock is ahead. */
  let aheadMs = 0;
  /** When the test began. */
  let begun: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    app = (await createClient(database, 'app', ['pay', 'account'])).key;
    // the items differ in their countries alone
    await database.query('UPDATE client SET allow_foreign_numbers = TRUE');
    auditor = (await createClient(database, 'auditor', ['audit'])).key;
    upstream = await FakeUpstream.start();
    const settings = {
      upstreamBaseUrl: upstream.url,
      upstreamTimeoutMs: 4_000,
      infoCacheTtlSeconds: TTL_MS / 1_000,
    };
    proxy = await startProxy({ ...settings, checkCoverage: true }, database);
    clock = jest.spyOn(performance, 'now');
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
    await database.close();
  });
  beforeEach(async () => {
    clock.mockImplementation(() => now() + aheadMs);
    countries = answer(200, COUNTRIES);
    payouts = answer(200, { status: 'success', data: { error: 'None' } });
    upstream.behaviour = (request, response, socket) => {
      const lists: Record<string, Behaviour> = {
        '/api/v0.1/info/airtime-countries': countries,
        '/api/v0.1/info/mobile-money-codes': answer(200, CODES),
      };
      return (lists[request.url] ?? payouts)(request, response, socket);
    };
    await forgetLists();
    begun = new Date().toISOString();
    upstream.received.length = 0;
  });

  /** Restores the state after the start: the proxy reads a missing list again, and its lists expire. */
  async function forgetLists(): Promise<void> {
    aheadMs += 2 * TTL_MS;
    await eventually(
      async () => (await proxy.post(app, '/payouts/airtime', airtime('Atlantis'))).status === 400,
    );
    aheadMs += 2 * TTL_MS;
  }

  const arrived = () => upstream.received.map(({ url }) => url.replace('/api/v0.1', ''));
  const calls = async () =>
    (await proxy.get(auditor, `/v1/audit/calls?from=${begun}`).expect(200)).body.calls;
  const counted = async () => {
    const { text } = await proxy.get(auditor, '/metrics').expect(200);
    const line =
      /^payout_proxy_calls_total\{operation="GET \/info\/airtime-countries",outcome="succeeded"\} (\d+)$/m;
    return Number(line.exec(text)?.[1]);
  };
  const recordOf = async (headers: Record<string, string>) =>
    (await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200)).body;

  it('are rejected before money moves, with the valid values, and recorded', async () => {
    const { body, headers } = await proxy
      .post(app, '/payouts/airtime', airtime('Kenya', 'France'))
      .expect(400);
    expect(body).toMatchObject({
      status: 'error',
      code: 'not_served',
      errors: [
        { pointer: '/airtimes/1/countryToSend', detail: 'is not served, and must be one of Kenya, Nigeria' },
      ],
    });
    expect(arrived()).toEqual(['/info/airtime-countries']);
    expect(await recordOf(headers)).toMatchObject({
      outcome: 'refused',
      refusal: { status: 400, code: 'not_served', errors: body.errors },
    });
  });

  it('include a network of another country', async () => {
    const { body } = await proxy.post(app, '/payouts/mobile-money', momo('Kenya', 'MTN')).expect(400);
    expect(body.errors).toEqual([
      { pointer: '/momos/0/momoCode', detail: 'must be a mobile money network of Kenya: MPS (M-Pesa)' },
    ]);
    await proxy.post(app, '/payouts/mobile-money', momo('COTE D’IVOIRE', 'MTN')).expect(200);
    expect(arrived()).toEqual(['/info/mobile-money-codes', '/payouts/mobile-money']);
  });

  it('are checked against a list that is read once and recorded with the payout', async () => {
    const before = await counted();
    const paid = await Promise.all(
      [1, 2, 3, 4, 5].map(() => proxy.post(app, '/payouts/airtime', airtime('kénya')).expect(200)),
    );
    expect(arrived().filter((url) => url.startsWith('/info/'))).toHaveLength(1);
    const all = await calls();
    const [asked, ...others] = all.filter(({ operation }) => operation === 'GET /info/airtime-countries');
    expect(others).toEqual([]);
    expect(asked).toMatchObject({ outcome: 'succeeded', client: { name: 'app' }, coverage: null });
    expect(paid.map(({ headers }) => headers['x-call-id'])).toContain(asked!.caused_by);
    expect(await counted()).toBe(before + 1);
    const payouts = all.filter(({ operation }) => operation === 'POST /payouts/airtime');
    expect(payouts.map(({ coverage, caused_by }) => [coverage, caused_by])).toEqual(
      Array(5).fill(['checked', null]),
    );
  });

  it.each<[string, Behaviour, number?]>([
    ['fails', answer(500, { status: 'error', error: 'no' })],
    ['is not there', answer(404, 'nothing')],
    ['is torn down', reset, 3], // what reads is tried again
    ['is no list', answer(200, { status: 'success', data: { countries: [] } })],
    ['is empty', answer(200, { status: 'success', data: [] })],
    ['hides an error', answer(200, { status: 'success', data: { error: 'not found' } })],
  ])(
    'pass unchecked if the list %s, and the next payout does not request it',
    async (_how, behaviour, times = 1) => {
      countries = behaviour;
      const paid = await proxy.post(app, '/payouts/airtime', airtime('France')).expect(200);
      expect(await recordOf(paid.headers)).toMatchObject({ outcome: 'succeeded', coverage: 'unchecked' });
      await proxy.post(app, '/payouts/airtime', airtime('Spain')).expect(200);
      const asked = Array<string>(times).fill('/info/airtime-countries');
      expect(arrived()).toEqual([...asked, '/payouts/airtime', '/payouts/airtime']);
    },
  );

  it('pass unchecked if the list is late, and its request is recorded', async () => {
    countries = hang;
    const paid = await proxy.post(app, '/payouts/airtime', airtime('France')).expect(200);
    expect(await recordOf(paid.headers)).toMatchObject({ coverage: 'unchecked' });
    const outcomes = () =>
      database.query(
        `SELECT kind, outcome.record::json ->> 'failure' AS failure FROM intent JOIN outcome ON intent_id = id
         WHERE operation = 'GET /info/airtime-countries' AND intent.recorded_at >= $1`,
        [begun],
      );
    await eventually(async () => (await outcomes()).length > 0);
    expect(await outcomes()).toEqual([{ kind: 'unknown', failure: 'timeout' }]);
  });

  it('are rejected again once the list is available, without delays before', async () => {
    const pay = () => proxy.post(app, '/payouts/airtime', airtime('France'));
    const asked = () => arrived().filter((url) => url.startsWith('/info/')).length;
    countries = answer(503, 'busy');
    clock.mockReturnValue(performance.now()); // it is not asked for by being slow
    await pay().expect(200);
    countries = answer(200, COUNTRIES);
    clock.mockReturnValue(performance.now() + 4_999);
    for (let times = 0; times < 3; times += 1) await pay().expect(200);
    expect(asked()).toBe(3); // what reads is tried again
    clock.mockReturnValue(performance.now() + 1);
    await eventually(async () => (await pay()).status === 400);
    expect(asked()).toBe(3 + 1);
  });

  it('are checked against a new list once the old one expires', async () => {
    await proxy.post(app, '/payouts/airtime', airtime('France')).expect(400);
    countries = answer(200, { ...COUNTRIES, data: ['France'] });
    aheadMs += 2 * TTL_MS;
    await proxy.post(app, '/payouts/airtime', airtime('France')).expect(200);
  });

  it('are not checked if the operator disables the check, and the record states it', async () => {
    const unchecked = await startProxy({ upstreamBaseUrl: upstream.url, checkCoverage: false }, database);
    const paid = await unchecked.post(app, '/payouts/airtime', airtime('France')).expect(200);
    expect(arrived()).toEqual(['/payouts/airtime']);
    expect(await recordOf(paid.headers)).toMatchObject({ coverage: 'unchecked' });
    await unchecked.close();
  });

  it('do not affect operations without countries', async () => {
    const paid = await proxy.post(app, '/account/transfer', { receiver: 'sub-1', amount: 1 }).expect(200);
    expect(await recordOf(paid.headers)).toMatchObject({ coverage: null });
    expect(arrived()).toEqual(['/account/transfer']);
  });
});
