import { Decimal } from 'decimal.js';
import { Client } from 'pg';
import { StopsService } from '../../src/admin/stops/stops.service';
import { lockIndex } from '../../src/history/retention/reindex';
import { OPERATIONS, OperationName, rowOf } from '../../src/operations/catalogue/catalogue';
import { itemFieldsOf } from '../../src/operations/items/items';
import { airtimeItem, creditItem, DOCUMENTED, OBSERVED } from '../support/http/interface';
import supertest from '../support/http/supertest';
import { answer } from '../support/network/fake-upstream';
import { eventually } from '../support/payments/paying';
import { PreviewScene, serving, startPreviewing } from '../support/payments/previewing';

const usd = (amount: string) => new Decimal(amount);
const AIRTIME = '/payouts/airtime';
const airtimes = (...changes: object[]) => ({
  airtimes: changes.map((change) => ({ ...airtimeItem(), ...change })),
});
const isRead = (operation: OperationName) => rowOf(operation).effect === 'read';
const TRIED = [...DOCUMENTED, ...OBSERVED].filter(({ operation }) => !isRead(operation));

describe('a preview', () => {
  let api: PreviewScene;

  beforeAll(async () => {
    api = await startPreviewing({ duplicateGuard: true, duplicateWindowSeconds: 3_600 });
  });
  afterAll(() => api.close());
  beforeEach(() => {
    api.upstream.received.length = 0;
    api.upstream.behaviour = serving;
  });

  /** Counts the rows that a request of this client would leave. */
  async function traces(clientId: string) {
    const [row] = await api.proxy.database.query(
      `SELECT (SELECT count(*)::integer FROM intent WHERE client_id = $1
        AND operation NOT LIKE 'GET /info/%') AS intents,
        (SELECT count(*)::integer FROM refusal WHERE client_id = $1) AS refusals,
        (SELECT count(*)::integer FROM spending WHERE client_id = $1) AS spending,
        (SELECT count(*)::integer FROM idempotency_claim WHERE client_id = $1) AS claims,
        (SELECT count(*)::integer FROM recent_content JOIN intent ON id = intent_id
          WHERE client_id = $1) AS contents`,
      [clientId],
    );
    return row;
  }
  const NO_TRACES = { intents: 0, refusals: 0, spending: 0, claims: 0, contents: 0 };

  it.each(TRIED)('announces that $operation would be sent, and records nothing', async (one) => {
    const { id, key } = await api.client();
    const headers = { 'Idempotency-Key': 'k-1' };
    expect(await api.preview(key, one.path, one.body, headers)).toMatchObject({
      would: 'be_sent',
      refusal: null,
      replay: null,
      errors: [],
      approval: null,
      stopped: null,
      duplicates: [],
      fee_usd: null,
      item_count: itemFieldsOf(one.operation) ? 1 : 0,
    });
    expect([api.arrived(), await traces(id)]).toEqual([[], NO_TRACES]);
    await api.ask(key, one.path, one.body, headers).expect(200);
    expect(api.arrived()).toEqual([`POST ${one.path}`]);
  });

  it.each((Object.keys(OPERATIONS) as OperationName[]).filter(isRead))(
    'returns 404 for %s',
    async (operation) => {
      const { key } = await api.client();
      const [method = '', path] = operation.split(' ');
      const [url, name] = [`/v1/preview${path}`, 'X-API-Key'];
      const { body } = await supertest(api.proxy.url)
        [method === 'GET' ? 'get' : 'post'](url)
        .set(name, key)
        .expect(404);
      expect(body).toMatchObject({ code: 'not_found', status: 404 });
    },
  );

  it('shows recipient, amount and local currency of each item', async () => {
    const { key } = await api.client();
    const body = airtimes(
      { countryToSend: 'KÉNYA', valueInUSD: 10.5 },
      { countryToSend: 'nigeria', valueInUSD: 2 },
    );
    const { items, total_usd, coverage } = await api.preview(key, AIRTIME, body);
    expect({ total_usd, coverage }).toEqual({ total_usd: '12.5', coverage: 'checked' });
    const phone = { recipient: '+2348012345678', network_code: null, notes: [] };
    const local = (currency: string, amount: string) => ({ currency, amount });
    expect(items).toEqual([
      { ...phone, position: 0, amount_usd: '10.5', country: 'Kenya', local_amount: local('KES', '1359.75') },
      { ...phone, position: 1, amount_usd: '2', country: 'Nigeria', local_amount: local('NGN', '259') },
    ]);
    const credits = [{ ...creditItem(), email: 'Ada@Example.COM', twitter: '@ada' }, { twitter: '@bob' }];
    const credit = await api.preview(key, '/payouts/credit', { credits });
    const [both, none] = [
      'The item has an email and a handle. The email is used.',
      'The item has no amount, so the total does not include it.',
    ];
    expect(credit.items).toMatchObject([
      { recipient: 'ada@example.com', local_amount: null, notes: [both] },
      { recipient: '@bob', amount_usd: null, notes: [none] },
    ]);
  });

  it('requests each rate once, at most ten, with caused_by, and omits unknown ones', async () => {
    const { id, key } = await api.client();
    const many = airtimes(...Array.from({ length: 12 }, (_, n) => ({ valueInUSD: 100 + (n % 11) })));
    const { items } = await api.preview(key, AIRTIME, many);
    expect(items.filter(({ local_amount: local }) => local !== null)).toHaveLength(11);
    const asked = api.upstream.received.filter(({ url }) => url.includes('usd-amount-in-local'));
    expect(asked).toHaveLength(10);
    const caused = `SELECT FROM intent WHERE client_id = $1 AND operation LIKE 'GET /info/usd%'
      AND record::json ->> 'caused_by' IS NOT NULL`;
    expect(await api.proxy.database.query(caused, [id])).toHaveLength(10);
    api.upstream.behaviour = answer(500, { status: 'error', error: 'no' });
    const without = await api.preview(key, AIRTIME, airtimes({ valueInUSD: 77 }));
    expect(without).toMatchObject({ would: 'be_sent', items: [{ local_amount: null }] });
  });

  it('lists every fault of every kind, with the intended phone number', async () => {
    const limits = { maxItemUsd: usd('5'), countries: ['Kenya'], dailyCapUsd: usd('1') };
    const { id, key } = await api.client(limits);
    const body = airtimes(
      { phoneNumber: '\u202a00234 (801) 234-5678\u202c' },
      { phoneNumber: '+44 (0)20 7946 0958', valueInUSD: 0 },
      { valueInUSD: 6 },
      { countryToSend: 'France' },
    );
    const found = await api.preview(key, AIRTIME, { ...body, extra: 1 });
    const said = found.errors.map(({ code, pointer }) => `${code} ${pointer}`);
    expect(said.sort()).toEqual([
      'cap_exceeded /airtimes/2/valueInUSD',
      'country_not_allowed /airtimes/2/countryToSend',
      'country_not_allowed /airtimes/3/countryToSend',
      'invalid_request /airtimes/0/phoneNumber',
      'invalid_request /airtimes/1/phoneNumber',
      'invalid_request /airtimes/1/valueInUSD',
      'invalid_request /extra',
      'not_served /airtimes/3/countryToSend',
    ]);
    const phones = found.errors.filter(({ pointer }) => pointer.endsWith('phoneNumber'));
    expect(phones[0]!.detail).toMatch(/\. It has an invisible character\. Did you mean \+2348012345678\?$/);
    expect(phones[1]!.detail).toMatch(/ Did you mean \+442079460958\?$/);
    expect(found).toMatchObject({ would: 'be_refused', item_count: 4, total_usd: null });
    expect(found.refusal).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(found.caps.daily.left_after_usd).toBeNull();
    expect(found.items.map(({ position }) => position)).toEqual([2, 3]);
    expect(await traces(id)).toEqual(NO_TRACES);
  });

  it.each([[undefined], [[]], [{}], [{ airtimes: {} }], [{ airtimes: [] }], [{ airtimes: [null, 1, []] }]])(
    'reports an invalid body (%j)',
    async (body) => {
      const { key } = await api.client();
      const found = await api.preview(key, AIRTIME, body);
      expect(found).toMatchObject({ would: 'be_refused', refusal: { code: 'invalid_request' }, items: [] });
    },
  );

  it('rejects invalid JSON, keys, scopes and operations with problem details', async () => {
    const send = (key: string, body: object | string = airtimes({})) =>
      supertest(api.proxy.url).post(`/v1/preview${AIRTIME}`).set('X-API-Key', key).type('json').send(body);
    const writer = await api.proxy.client('writer', 'write');
    const limited = await api.client({ operations: ['POST /send'] });
    const { key } = await api.client({ requestsPerMinute: 1 });
    for (const [request, status, code] of [
      [send(key, '{'), 400, 'invalid_request'],
      [send(key), 429, 'rate_limited'],
      [send('wrong'), 401, 'invalid_key'],
      [send(writer.key), 403, 'scope_missing'],
      [send(limited.key), 403, 'operation_not_allowed'],
    ] as const) {
      const { body, type } = await request.expect(status);
      expect([body.code, type]).toEqual([code, 'application/problem+json']);
    }
    const refusals = 'SELECT operation FROM refusal WHERE client_id = $1';
    const [refused] = await api.proxy.database.query(refusals, [writer.id]);
    expect(refused?.operation).toBe(`POST /v1/preview${AIRTIME}`);
  });

  it('shows the remainder of each cap, or the excess', async () => {
    const { key } = await api.client({ dailyCapUsd: usd('10'), monthlyCapUsd: usd('20') });
    await api.ask(key, AIRTIME, airtimes({ valueInUSD: 2.5 })).expect(200);
    const fits = await api.preview(key, AIRTIME, airtimes({ valueInUSD: 7.499999 }));
    expect(fits).toMatchObject({ would: 'be_sent', errors: [] });
    expect(fits.caps).toEqual({
      daily: { cap_usd: '10', spent_usd: '2.5', left_usd: '7.5', left_after_usd: '0.000001' },
      monthly: { cap_usd: '20', spent_usd: '2.5', left_usd: '17.5', left_after_usd: '10.000001' },
    });
    const over = await api.preview(key, AIRTIME, airtimes({ valueInUSD: 8 }));
    expect(over).toMatchObject({ would: 'be_refused', caps: { daily: { left_after_usd: '-0.5' } } });
    expect(over.refusal).toMatchObject({ status: 403, code: 'cap_exceeded' });
    const link = await api.preview(key, '/send', { credit: [{ ...creditItem(), valueInUSD: 50 }] });
    expect(link).toMatchObject({ would: 'be_sent', caps: { daily: { left_after_usd: '7.5' } } });
  });

  it('announces a hold for approval', async () => {
    const { key } = await api.client({ approvalOverUsd: usd('3') });
    const body = airtimes({ valueInUSD: 3.5 });
    const approval = { reason: 'over_threshold', threshold_usd: '3' };
    expect(await api.preview(key, AIRTIME, body)).toMatchObject({ would: 'wait_for_approval', approval });
    await api.ask(key, AIRTIME, body).expect(202);
    expect(api.arrived()).toEqual([]);
  });

  it('announces a stop by the operator, and lists other errors', async () => {
    const { key, name } = await api.client({ maxItemUsd: usd('1') });
    const stops = api.proxy.app.get(StopsService, { strict: false });
    await stops.stop({ client: name }, 'audit', { clientId: null, keyId: null, actor: 'ada' });
    const found = await api.preview(key, AIRTIME, airtimes({ valueInUSD: 2 }));
    expect(found).toMatchObject({ would: 'be_refused', stopped: 'audit', refusal: { code: 'cap_exceeded' } });
    expect(found.errors.map(({ code }) => code)).toEqual(['cap_exceeded', 'stopped']);
  });

  it('waits for a concurrent update of the search index', async () => {
    const { key } = await api.client();
    const other = new Client({ connectionString: api.proxy.database.ownerUrl });
    await other.connect();
    await other.query('BEGIN');
    await lockIndex(other);
    const shown = api.preview(key, AIRTIME, airtimes({}));
    await eventually(async () => {
      const { rows } = await other.query(
        `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
         WHERE d.datname = current_database() AND locktype = 'advisory' AND NOT granted`,
      );
      return rows.length > 0;
    });
    await other.query('SELECT pg_sleep(1.2); COMMIT'); // longer than the lock timeout of other statements
    await other.end();
    expect(await shown).toMatchObject({ would: 'be_sent' });
  });

  it('lists the first 100 faults of a long list with their total, and the items without faults', async () => {
    const { key } = await api.client();
    const wrong = { ...airtimeItem(), phoneNumber: 'unknown' };
    const airtimes = Array.from({ length: 300 }, (_, place) => (place % 3 === 0 ? airtimeItem() : wrong));
    const found = await api.preview(key, '/payouts/airtime', { airtimes });
    expect(found).toMatchObject({ would: 'be_refused', errors_total: 200, errors: { length: 100 } });
    expect(found.refusal).toMatchObject({ action: 'fix_request', errors_total: 200 });
    expect(found.items.map(({ position }) => position)).toEqual(Array.from({ length: 100 }, (_, n) => n * 3));
  });
});
