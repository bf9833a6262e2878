import { connect } from 'node:net';
import { Client } from 'pg';
import { first } from '../../support/examples/first';
import { eventually } from '../../support/payments/paying';
import { AIRTIME, airtime, API_KEY, DEMO, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('the ground truth', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control('post', '/reset').expect(204));

  it('shows every event of a payout', async () => {
    const body = { ...airtime(2), unknown: ['kept', { as: 'it came' }] };
    const { body: answer } = await sandbox.post('/payouts/airtime?x=1&x=2', body).expect(200);
    expect(await sandbox.requests()).toEqual([
      {
        seq: expect.any(Number),
        operation: AIRTIME,
        query: { x: ['1', '2'] },
        body,
        processed: true,
        chiRefs: [first(answer.data.data).chiRef],
        fault: null,
        account: DEMO,
        httpStatus: 200,
        arrivedAt: TIME,
        processedAt: TIME,
        answeredAt: TIME,
      },
    ]);
  });

  it('marks an executed read as processed, without chiRefs', async () => {
    await sandbox.get('/wallets/list').expect(200);
    expect(await sandbox.requests()).toMatchObject([
      { operation: 'GET /wallets/list', processed: true, chiRefs: [], body: null, query: {} },
    ]);
  });

  it('marks a rejected request as not processed, with its answer', async () => {
    await sandbox.post('/payouts/airtime', airtime(1_000_000)).expect(400);
    await askSandbox(sandbox.url).post('/api/v0.1/payouts/airtime').send(airtime()).expect(401);
    await sandbox.post('/payouts/airtime', '{"airtimes":[\0').expect(400);
    await sandbox.post('/payouts/unheard-of?a=b', { any: 'thing' }).expect(404);
    await sandbox.post('/send', {}).expect(500);
    await sandbox.post('/payouts/airtime', 'x'.repeat(3_000_000)).expect(413);
    const turnedDown = { processed: false, processedAt: null, chiRefs: [] };
    expect(await sandbox.requests()).toMatchObject([
      { ...turnedDown, httpStatus: 400, body: airtime(1_000_000) },
      { ...turnedDown, httpStatus: 401, account: null, body: airtime() },
      { ...turnedDown, httpStatus: 400, body: '{"airtimes":[\uFFFD' },
      {
        ...turnedDown,
        httpStatus: 404,
        operation: 'POST /payouts/unheard-of',
        query: { a: 'b' },
        body: { any: 'thing' },
      },
      { ...turnedDown, httpStatus: 500, operation: 'POST /send', body: {} },
      { ...turnedDown, httpStatus: 413, body: null },
    ]);
  });

  it('includes a request with an incomplete body', async () => {
    const { hostname, port } = new URL(sandbox.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /api/v0.1/send HTTP/1.1\r\nHost: x\r\nX-API-Key: ${API_KEY}\r\nContent-Length: 9\r\n\r\n{"a"`,
      () => socket.end(),
    );
    await eventually(async () => (await sandbox.requests()).length === 1);
    socket.destroy();
    expect(await sandbox.requests()).toMatchObject([
      { operation: 'POST /send', processed: false, body: null },
    ]);
  });

  it('includes a request with an unreadable path', async () => {
    await sandbox.get('/account/%zz').expect(400);
    expect(await sandbox.requests()).toMatchObject([
      { operation: 'GET /account/%zz', processed: false, httpStatus: 400, account: DEMO },
    ]);
  });

  it.each(['/api/v0.1/payouts/%61irtime', '/%61pi/v0.1/payouts/airtime?a=b'])(
    'includes %s under the name of the operation that answers it, and its faults strike',
    async (path) => {
      await sandbox.fault({ fault: 'forbidden', operation: AIRTIME });
      await askSandbox(sandbox.url).post(path).set('X-API-Key', API_KEY).send(airtime()).expect(403);
      expect(await sandbox.requests()).toMatchObject([
        { operation: AIRTIME, fault: 'forbidden', processed: false },
      ]);
    },
  );

  it('includes requests for unknown operations under their path', async () => {
    for (const path of ['/api/v0.1/n%6Fthing', '/%61pi/v0.1/nothing', '/api/v0.1/payouts/airtime/'])
      await askSandbox(sandbox.url).post(path).expect(404);
    await askSandbox(sandbox.url).head('/api/v0.1/wallets/list').set('X-API-Key', API_KEY).expect(404);
    const names = (await sandbox.requests()).map(({ operation }) => operation);
    expect(names).toEqual([
      'POST /n%6Fthing',
      'POST /%61pi/v0.1/nothing',
      'POST /payouts/airtime/',
      'HEAD /wallets/list',
    ]);
  });

  it('is in order, and filters by operation, start and limit', async () => {
    for (const usd of [1, 2, 3]) await sandbox.post('/payouts/airtime', airtime(usd)).expect(200);
    await sandbox.get('/sub-account/list').expect(200);
    const all = await sandbox.requests();
    expect(all.map(({ seq }) => seq)).toEqual([...all.map(({ seq }) => seq)].sort((a, b) => a - b));
    expect((await sandbox.requests(AIRTIME)).map(({ body }) => body)).toEqual(
      [1, 2, 3].map((usd) => airtime(usd)),
    );
    const part = await sandbox.control('get', `/requests?after=${all[0]!.seq}&limit=2`).expect(200);
    expect(part.body).toEqual(all.slice(1, 3));
    const wrong = await sandbox.control('get', '/requests?after=x&limit=0').expect(400);
    expect(wrong.body.faults).toHaveLength(2);
  });

  it('survives a restart of the sandbox, and continues its count', async () => {
    await sandbox.post('/payouts/airtime', airtime()).expect(200);
    const before = await sandbox.requests();
    const restarted = await startSandbox({}, sandbox.own);
    await restarted.get('/sub-account/list').expect(200);
    const after = await restarted.requests();
    await restarted.close();
    expect(after).toEqual([...before, expect.objectContaining({ operation: 'GET /sub-account/list' })]);
  });

  it('rejects a request that cannot be recorded with 503', async () => {
    const client = new Client({ connectionString: sandbox.own.sandboxUrl });
    await client.connect();
    await client.query('ALTER TABLE arrivals RENAME TO arrivals_away');
    const { body } = await sandbox.post('/payouts/airtime', airtime()).expect(503);
    await client.query('ALTER TABLE arrivals_away RENAME TO arrivals');
    await client.end();
    expect(body).toEqual({ status: 'error', error: expect.stringContaining('unavailable') });
    expect(await sandbox.balance('airtime')).toBe(10_000);
    expect(await sandbox.requests(AIRTIME)).toEqual([]);
  });

  it('marks exactly the paid payouts as processed while the money runs out', async () => {
    const attempts = await Promise.all(
      Array.from({ length: 40 }, () =>
        sandbox.post('/payouts/airtime', airtime(400)).then(({ status }) => status),
      ),
    );
    expect(attempts.filter((status) => status === 200)).toHaveLength(25);
    const truth = await sandbox.requests(AIRTIME);
    expect(truth.filter(({ processed }) => processed).every(({ httpStatus }) => httpStatus === 200)).toBe(
      true,
    );
    expect(truth.filter(({ processed }) => processed)).toHaveLength(25);
    expect(truth.filter(({ chiRefs }) => chiRefs.length === 1)).toHaveLength(25);
    expect(await sandbox.balance('airtime')).toBe(0);
  });
});
