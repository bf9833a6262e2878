import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { Gate } from '../support/payments/gate';
import {
  ask,
  AppRequest,
  askUntilSettled,
  createClient,
  meetAtIntent,
  AppResponse,
} from '../support/processes/fleet';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../support/processes/proxy';
import { airtime, startSandbox, TestSandbox } from '../support/sandbox/sandbox';

const DUPLICATES = 200;

/** Promise 2, part: two requests with one Idempotency-Key pay once, at any proxies and any moment. */
describe('an Idempotency-Key sent concurrently over two proxies', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let upstream: Gate;
  let proxies: TestProxy[];
  let shop: string;
  let other: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({ apiKey: UPSTREAM_KEY }, database);
    upstream = await Gate.start(() => sandbox.url);
    proxies = [];
    // The duplicate guard is off, so only keys can block a duplicate.
    while (proxies.length < 2)
      proxies.push(await startProxy({ upstreamBaseUrl: upstream.url, duplicateGuard: false }, database));
    shop = (await createClient(database, 'shop', ['pay', 'write', 'read', 'account'])).key;
    other = (await createClient(database, 'other', ['pay'])).key;
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close();
    await upstream?.stop();
    await sandbox?.close();
    await database?.close();
  });
  afterEach(async () => {
    upstream.open();
    await sandbox.control('delete', '/faults').expect(204);
  });

  const url = (index: number) => proxies[index]?.url ?? '';
  let phones = 0;
  const newPayment = () => airtime(1.25, `+2547000${String((phones += 1)).padStart(5, '0')}`);
  const phoneOf = (body: object) => (body as ReturnType<typeof airtime>).airtimes[0]?.phoneNumber;
  /** Requests with this body in the sandbox. Each test has its own bodies. */
  const arrivals = async (body: object) =>
    (await sandbox.requests()).filter((arrival) =>
      JSON.stringify(arrival.body)?.includes(phoneOf(body) ?? ''),
    );
  /** Sends requests to the two proxies in turn. */
  const duplicates = (count: number, asking: (index: number) => AppRequest, onWait?: () => void) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        askUntilSettled(() => url(index % 2), asking(index), onWait),
      ),
    );
  const pay = (index: number, asking: Partial<AppRequest> & { body: object }) =>
    ask(url(index), { key: shop, ...asking });
  const expectEqual = (answers: AppResponse[]) =>
    expect(new Set(answers.map(({ status, body }) => `${status} ${String(body)}`))).toEqual(
      new Set([`200 ${String(answers[0]?.body)}`]),
    );
  const replayed = (answers: AppResponse[]) =>
    answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');

  it('sends one request upstream for 200 duplicates, with 199 replays of its answer', async () => {
    const body = newPayment();
    upstream.hold('answers'); // until a duplicate times out, which covers all kinds of waiting
    let waits = 0;
    const onWait = () => {
      waits += 1;
      upstream.open();
    };
    const answers = await duplicates(
      DUPLICATES,
      () => ({ key: shop, body, idempotencyKey: 'duplicates' }),
      onWait,
    );
    expect(await arrivals(body)).toMatchObject([{ processed: true, httpStatus: 200 }]);
    expect(answers).toHaveLength(DUPLICATES);
    expectEqual(answers);
    expect(replayed(answers)).toHaveLength(DUPLICATES - 1);
    expect(new Set(answers.map(({ headers }) => headers.get('x-call-id'))).size).toBe(1);
    expect(waits).toBeGreaterThan(0);
  });

  it('asks to retry while the other proxy executes the first request', async () => {
    const body = newPayment();
    upstream.hold('answers');
    const first = pay(0, { body, idempotencyKey: 'slow' });
    await upstream.held('answers');
    const told = await pay(1, { body, idempotencyKey: 'slow' });
    expect([told.status, told.json.code, told.headers.get('retry-after')]).toEqual([
      409,
      'request_in_progress',
      '1',
    ]);
    upstream.open();
    const { headers, body: bytes } = await first;
    expect(told.json.first_call_id).toBe(headers.get('x-call-id'));
    const again = await pay(1, { body, idempotencyKey: 'slow' });
    expect(again.body).toEqual(bytes);
    expect(await arrivals(body)).toHaveLength(1);
  });

  it('sends one request when two proxies decide at the same moment', async () => {
    const body = newPayment();
    const both = () => duplicates(2, () => ({ key: shop, body, idempotencyKey: 'same-moment' }));
    const answers = await meetAtIntent(database, 2, both);
    expectEqual(answers);
    expect(await arrivals(body)).toHaveLength(1);
  });

  it('sends one request upstream for each of ten keys for 100 duplicates', async () => {
    const bodies = Array.from({ length: 10 }, newPayment);
    const answers = await duplicates(DUPLICATES / 2, (index) => ({
      key: shop,
      body: bodies[index % 10] ?? {},
      idempotencyKey: `ten-${index % 10}`,
    }));
    for (const [index, body] of bodies.entries()) {
      expect(await arrivals(body)).toMatchObject([{ processed: true }]);
      const same = answers.filter((_, place) => place % 10 === index);
      expectEqual(same);
      expect(replayed(same)).toHaveLength(DUPLICATES / 20 - 1);
    }
  });

  it('pays one of several different bodies, and returns 422 for the others', async () => {
    const bodies = Array.from({ length: 10 }, newPayment);
    const answers = await duplicates(DUPLICATES / 2, (index) => ({
      key: shop,
      body: bodies[index % 10] ?? {},
      idempotencyKey: 'other-body',
    }));
    const paid = (await Promise.all(bodies.map(arrivals))).map((found) => found.length);
    expect([...paid].sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    for (const [index, { status, json }] of answers.entries()) {
      if (paid[index % 10] === 1) expect(status).toBe(200);
      else expect([status, json.code]).toEqual([422, 'idempotency_key_reused']);
    }
    const first = new Set(answers.map(({ json, headers }) => json.first_call_id ?? headers.get('x-call-id')));
    expect(first.size).toBe(1);
  });

  it('separates clients and operations, and ignores quotes around it', async () => {
    const body = newPayment();
    const bare = await pay(0, { body, idempotencyKey: 'scope' });
    const quoted = await pay(1, { body, idempotencyKey: '"scope"' });
    expect([quoted.headers.get('idempotent-replayed'), quoted.body]).toEqual(['true', bare.body]);
    const others = await pay(1, { key: other, body, idempotencyKey: 'scope' });
    expect([others.status, others.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect(await arrivals(body)).toHaveLength(2);
    const transfer = { receiver: '00000000-0000-4000-8000-000000000002', amount: 0.5, wallet: 'airtime' };
    const elsewhere = await pay(0, {
      operation: '/account/transfer',
      body: transfer,
      idempotencyKey: 'scope',
    });
    expect([elsewhere.status, elsewhere.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });

  it('treats another spelling of the body as the same request', async () => {
    const body = newPayment();
    const item = body.airtimes[0];
    const turned = { airtimes: [Object.fromEntries(Object.entries(item ?? {}).reverse())] };
    await pay(0, { body, idempotencyKey: 'spelling' });
    const again = await pay(1, { body: turned, idempotencyKey: 'spelling' });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  });

  it('becomes free if nothing was sent, and sends one request once a connection exists', async () => {
    const body = newPayment();
    await upstream.refuse();
    const refused = await duplicates(10, () => ({ key: shop, body, idempotencyKey: 'unsent' }));
    for (const { status, json } of refused)
      expect([status, json.code]).toEqual([503, 'upstream_unreachable']);
    await upstream.accept();
    const answers = await duplicates(20, () => ({ key: shop, body, idempotencyKey: 'unsent' }));
    expectEqual(answers);
    expect(replayed(answers)).toHaveLength(19);
    expect(await arrivals(body)).toHaveLength(1);
  });

  it('rejects a repetition of a 500 while it is verified, on each proxy, and sends nothing', async () => {
    const body = newPayment();
    await sandbox.fault({ fault: 'error500', nth: 1 });
    const first = await pay(0, { body, idempotencyKey: 'rejected' });
    expect(first.status).toBe(500);
    for (const index of [0, 1]) {
      const again = await pay(index, { body, idempotencyKey: 'rejected' });
      expect([again.status, again.json.code]).toEqual([409, 'outcome_unknown']);
      expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(800);
    }
    expect(await arrivals(body)).toMatchObject([{ processed: false }]);
  });

  it.each([true, false])(
    'never sends again while the outcome is in doubt (executed: %s)',
    async (processed) => {
      const body = newPayment();
      await sandbox.fault({ fault: 'error502Html', nth: 1, processed });
      const idempotencyKey = `doubt-${processed}`;
      const first = await pay(0, { body, idempotencyKey });
      expect([first.status, first.json.code]).toEqual([502, 'outcome_unknown']);
      const again = await duplicates(20, () => ({ key: shop, body, idempotencyKey }));
      for (const { status, json } of again) {
        expect([status, json.code, json.first_call_id]).toEqual([409, 'outcome_unknown', first.json.call_id]);
      }
      expect(await arrivals(body)).toMatchObject([{ processed }]);
    },
  );
});
