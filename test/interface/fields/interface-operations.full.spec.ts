import { OPERATION_NAMES, sourceOf } from '../../../src/operations/catalogue/catalogue';
import { DOCUMENTED, OBSERVED, startInterface, TestInterface } from '../../support/http/interface';
import supertest from '../../support/http/supertest';
import { UPSTREAM_KEY } from '../../support/processes/proxy';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const ALL = [...DOCUMENTED, ...OBSERVED];

describe('documented and observed operations', () => {
  let api: TestInterface;

  beforeAll(async () => {
    api = await startInterface();
  });
  afterAll(() => api.close());

  function last() {
    const received = api.upstream.received.at(-1);
    if (!received) throw new Error('nothing was received');
    return received;
  }

  it.each([
    ['documented', DOCUMENTED],
    ['observed', OBSERVED],
  ])('are all in the tables of this file: %s', (source, table) => {
    expect(table.map(({ operation }) => operation).sort()).toEqual(
      OPERATION_NAMES.filter((name) => sourceOf(name) === source).sort(),
    );
  });

  it.each(ALL)('forward $operation with its method, path, query and exact bytes', async (asking) => {
    const { operation, path, body } = asking;
    const sentBefore = api.upstream.received.length;
    const response = await api.ask(asking).expect(200);
    expect(response.body).toMatchObject({ status: 'success' });
    expect(api.upstream.received.length).toBe(sentBefore + 1);
    expect(`${last().method} ${last().url.split('?')[0]}`).toBe(operation.replace(' ', ' /api/v0.1'));
    expect(last().url).toBe(`/api/v0.1${path}`);
    expect(last().body).toBe(body ? JSON.stringify(body) : '');
    const recorded = await api.record(response.headers['x-call-id'] as string);
    expect(recorded).toMatchObject({ operation, outcome: 'succeeded', client: { name: 'shop' } });
    expect(recorded.request).toEqual({ query: path.split('?')[1] ?? null, body: body ?? null });
  });

  it.each(ALL)(
    'send $operation with our key and the trace context, and no other header of the client',
    async (o) => {
      await api
        .ask(o)
        .set({
          traceparent: TRACEPARENT,
          tracestate: 'vendor=1',
          cookie: 'session=1',
          authorization: 'Basic YTpi',
        })
        .set({
          'x-forwarded-for': '192.0.2.1',
          'x-request-id': 'mine',
          'idempotency-key': 'k',
          'accept-language': 'fr',
        })
        .set({ 'user-agent': 'app/1.0', accept: 'text/html', 'accept-encoding': 'gzip', via: '1.1 cache' })
        .expect(200);
      const { headers } = last();
      expect(headers['x-api-key']).toBe(UPSTREAM_KEY);
      expect(headers.traceparent).toBe(TRACEPARENT);
      expect(JSON.stringify(headers)).not.toContain(api.app);
      const ofTheConnection = ['host', 'connection', 'content-length'];
      expect(
        Object.keys(headers)
          .filter((name) => !ofTheConnection.includes(name))
          .sort(),
      ).toEqual(
        [
          'accept',
          'accept-encoding',
          'traceparent',
          'user-agent',
          'x-api-key',
          ...(o.body ? ['content-type'] : []),
        ].sort(),
      );
      expect([headers.accept, headers['accept-encoding'], headers['user-agent']]).toEqual([
        'application/json',
        'identity',
        'payout-proxy',
      ]);
    },
  );

  it.each(['not a trace', `${TRACEPARENT}, ${TRACEPARENT}`, '00-00-00-00'])(
    'do not forward an invalid traceparent (%s)',
    async (traceparent) => {
      await api.get('/wallets/list', { traceparent }).expect(200);
      expect(last().headers).not.toHaveProperty('traceparent');
    },
  );

  it.each(['x-api-key', 'X-API-Key', 'X-API-KEY', 'X-Api-Key'])('accept the key from %s', async (name) => {
    await supertest(api.proxy.url).get('/api/v0.1/wallets/list').set(name, api.app).expect(200);
  });

  it.each([
    ['without a body', undefined],
    ['with an empty object', {}],
  ])(
    'treat POST /wallets/list %s as the same operation, and forward it as GET without a body',
    async (_how, body) => {
      const response = await api.post('/wallets/list', body).expect(200);
      expect([last().method, last().url, last().body]).toEqual(['GET', '/api/v0.1/wallets/list', '']);
      expect(last().headers).not.toHaveProperty('content-type');
      expect((await api.record(response.headers['x-call-id'] as string)).operation).toBe('GET /wallets/list');
    },
  );

  it.each(['a b&c=d#e+f/g%', 'ключ', '../../admin', 'x?y'])('forward an ID unchanged: %s', async (id) => {
    await api.get(`/account/transaction?id=${encodeURIComponent(id)}`).expect(200);
    const url = new URL(last().url, 'http://upstream.example');
    expect(url.pathname).toBe('/api/v0.1/account/transaction');
    expect([...url.searchParams]).toEqual([['id', id]]);
  });

  it('forward our serialization, which differs only in white space and the order of names', async () => {
    await api
      .postRaw(
        '/send',
        ' { "credit" : [ { "email" : "\\u0061da@example.com", "valueInUSD" : 1.50 } ], "description" : ' +
          '"Prizes" } ',
      )
      .expect(200);
    expect(last().body).toBe(
      '{"credit":[{"email":"ada@example.com","valueInUSD":1.5}],"description":"Prizes"}',
    );
  });

  it.each(['', 'application/json; charset=utf-8', 'Application/JSON'])(
    'accept JSON with the content type "%s"',
    async (type) => {
      const body = '{"chiRef":"a"}';
      const headers = type === '' ? {} : { 'Content-Type': type };
      const response = await fetch(`${api.proxy.url}/api/v0.1/account/delete-unpaid-transaction`, {
        method: 'POST',
        headers: { 'X-API-Key': api.app, ...headers },
        body: Buffer.from(body), // bytes: fetch adds no type of its own
      });
      expect(response.status).toBe(200);
      expect(last().body).toBe(body);
    },
  );

  it('accept an address with percent-encoding', async () => {
    const { body } = await supertest(api.proxy.url)
      .post('/%61pi/v0.1/send')
      .set('X-API-Key', api.app)
      .send({});
    expect(body).toMatchObject({ status: 'error', code: 'invalid_request' });
    const { body: denied } = await supertest(api.proxy.url).post('/%61pi/v0.1/send').send({});
    expect(denied).toMatchObject({ status: 'error', code: 'missing_key' });
  });

  it('return 404 in the interface envelope for unknown operations, and forward nothing', async () => {
    const sentBefore = api.upstream.received.length;
    const { body } = await api.post('/payouts/gold', {}).expect(404);
    expect(body).toMatchObject({ status: 'error', code: 'not_found' });
    expect((await api.get('/send').expect(405)).headers.allow).toBe('POST');
    expect((await api.post('/sub-account/list', {}).expect(405)).body.code).toBe('method_not_allowed');
    expect(api.upstream.received.length).toBe(sentBefore);
  });
});
