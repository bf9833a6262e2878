import { Client } from 'pg';
import { MetricsService } from '../../../src/http/metrics/metrics.service';
import { OperationName, pathOf, rowOf } from '../../../src/operations/catalogue/catalogue';
import { at } from '../../support/databases/damage';
import { TestDatabase } from '../../support/databases/test-database';
import { answer, reset } from '../../support/network/fake-upstream';
import { eventually, PaymentScene, phones, startPaying } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const AIRTIME_OPERATION = 'POST /payouts/airtime';
const WALLETS_OPERATION = 'GET /wallets/list';
const PERSON = { email: 'ada@example.com', phone: '+254712345678', id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' };

describe('the monitor of response shapes', () => {
  let paying: PaymentScene;
  /** Logged lines about shapes. */
  let logged: unknown[][];

  beforeAll(async () => {
    paying = await startPaying();
    hear(paying.proxy);
  });
  afterAll(() => paying.close());
  beforeEach(() => {
    logged = [];
    paying.upstream.behaviour = answer(200, { status: 'success', data: {} });
  });

  function hear({ app }: TestProxy): void {
    const log = (...line: unknown[]) => void (line.at(-1) === 'Shapes' && logged.push(line));
    app.useLogger({ log: () => undefined, warn: log, error: log, fatal: log });
  }

  /** Another instance on the same database. */
  async function another(): Promise<TestProxy> {
    const proxy = await startProxy({ upstreamBaseUrl: paying.upstream.url }, paying.proxy.database);
    hear(proxy);
    return proxy;
  }

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const listed = async (operation: OperationName) =>
    (
      await paying.proxy
        .get(paying.auditor, `/v1/audit/shapes?page_size=200&operation=${operation}`)
        .expect(200)
    ).body.shapes;
  const isListed = (operation: OperationName, count: number) =>
    eventually(async () => (await listed(operation)).length === count);

  /** Returns the nonzero counters of this name by operation. */
  async function counted(name: string, { app }: TestProxy = paying.proxy): Promise<Record<string, number>> {
    const { body } = await app.get(MetricsService, { strict: false }).text();
    const lines = body.matchAll(
      new RegExp(`^payout_proxy_${name}_answer_shapes_total\\{operation="(.+)"\\} (\\d+)$`, 'gm'),
    );
    return Object.fromEntries([...lines].map(([, operation = '', count]) => [operation, Number(count)]));
  }

  /** Sends the operation's example. Tests have separate operations, because the proxy knows their shapes. */
  const ask = (operation: OperationName, to: TestProxy = paying.proxy) =>
    to.post(paying.app, pathOf(operation) as '/payouts/airtime', rowOf(operation).example);

  /** Sends the operation's example, and returns this answer. */
  async function answered(
    operation: OperationName,
    data: unknown,
    to: TestProxy = paying.proxy,
  ): Promise<string> {
    paying.upstream.behaviour = answer(200, { status: 'success', data });
    const { headers } = await ask(operation, to).expect(200);
    return headers['x-call-id'] as string;
  }

  it('lists, counts and logs a shape once, without values, however often it occurs', async () => {
    const data = (valueInUSD: unknown) => ({
      error: 'None',
      data: [{ chiRef: PERSON.id, valueInUSD, phone: PERSON.phone }],
      payouts: { [PERSON.email]: 1, [PERSON.phone]: 2, [PERSON.id]: 3, issueID: PERSON.id },
    });
    const first = await answered(AIRTIME_OPERATION, data(1));
    for (const value of [2, 3]) await answered(AIRTIME_OPERATION, data(value));
    await isListed(AIRTIME_OPERATION, 1);
    const second = await answered(AIRTIME_OPERATION, data('0.1'));
    await answered(AIRTIME_OPERATION, data(4));
    await isListed(AIRTIME_OPERATION, 2);
    const found = await listed(AIRTIME_OPERATION);
    expect(found).toEqual([
      {
        id: expect.any(String),
        operation: AIRTIME_OPERATION,
        http_status: 200,
        first_call_id: second,
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        first_seen_at: expect.any(String),
        shape: expect.objectContaining({ type: ['object'], required: ['data', 'status'] }),
      },
      expect.objectContaining({ first_call_id: first }),
    ]);
    const place = 'properties/data/properties/data/items/properties/valueInUSD';
    expect(found.map(({ shape }) => at(shape, place))).toEqual([{ type: ['string'] }, { type: ['number'] }]);
    expect(at(found[0]!.shape, 'properties/data/properties/payouts')).toEqual({
      type: ['object'],
      properties: { issueID: { type: ['string'] } },
      required: ['issueID'],
      additionalProperties: { type: ['number'] },
    });
    expect((await counted('new'))[AIRTIME_OPERATION]).toBe(2);
    expect(logged).toEqual(
      [...found]
        .reverse()
        .map(({ operation, http_status: status, fingerprint, first_call_id: call_id }) => [
          { operation, status, fingerprint, call_id },
          'upstream answer has a new shape',
          'Shapes',
        ]),
    );
    const text = JSON.stringify([found, logged]);
    expect(Object.values(PERSON).filter((value) => text.includes(value))).toEqual([]);
  });

  it('tracks each operation and HTTP status separately, also without JSON or an answer', async () => {
    const proxy = await another();
    const operation = 'POST /payouts/mobile-money';
    const pay = () => ask(operation, proxy);
    await pay().expect(200);
    paying.upstream.behaviour = answer(502, '<html>');
    await pay().expect(502);
    paying.upstream.behaviour = answer(204, '');
    await pay().expect(502);
    paying.upstream.behaviour = reset;
    await pay().expect(502);
    paying.upstream.behaviour = answer(200, { status: 'success', data: [] });
    await proxy.get(paying.app, '/api/v0.1/wallets/list').expect(200);
    await proxy.close(); // Waits for records in progress.
    const found = [...(await listed(WALLETS_OPERATION)), ...(await listed(operation))];
    expect(
      found.reverse().map(({ operation, http_status, shape }) => [operation, http_status, shape.type]),
    ).toEqual([
      [operation, 200, ['object']],
      [operation, 502, ['not JSON']],
      [operation, 204, ['no body']],
      [WALLETS_OPERATION, 200, ['object']],
    ]);
  });

  it('recognizes known shapes and their combinations after a restart', async () => {
    const operation = 'POST /send';
    await answered(operation, [{ email: 'x' }]);
    await answered(operation, [{ phone: 'x' }]);
    await isListed(operation, 2);
    const again = await another();
    for (const records of [[{ phone: 'y' }], [{ phone: 'y', email: 'y' }], [{}, { phone: 'y' }], []])
      await answered(operation, records, again);
    await again.close();
    expect(await listed(operation)).toHaveLength(2);
    expect(await counted('new', again)).toEqual({});
  });

  it('counts a shape once across instances, and records it before they stop', async () => {
    const operation = 'POST /payouts/initiate-credit';
    const instances = [await another(), await another()];
    const blocker = new Client({ connectionString: paying.proxy.database.ownerUrl });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE answer_shape IN SHARE MODE'); // Blocks writes, not reads.
    await Promise.all(instances.map((instance) => ask(operation, instance).expect(200)));
    await eventually(async () => {
      const waiting = await query(
        "SELECT FROM pg_locks WHERE relation = 'answer_shape'::regclass AND NOT granted",
      );
      return waiting.length === instances.length;
    });
    const stopped = Promise.all(instances.map((instance) => instance.close()));
    await blocker.query('COMMIT');
    await Promise.all([stopped, blocker.end()]);
    expect(await listed(operation)).toHaveLength(1);
    const counts = await Promise.all(instances.map((instance) => counted('new', instance)));
    expect(counts.filter((count) => Object.keys(count).length > 0)).toEqual([{ [operation]: 1 }]);
    expect(logged).toHaveLength(1);
  });

  it('fails no call while the database rejects shapes, and records them later', async () => {
    const operation = 'POST /account/transfer';
    await query('ALTER TABLE answer_shape RENAME TO gone');
    await answered(operation, { error: 'None' });
    await eventually(() => logged.length > 0);
    expect(logged).toEqual([
      [{ err: expect.any(Error) }, 'shapes of upstream answers not recorded, will retry', 'Shapes'],
    ]);
    expect(await counted('new')).not.toHaveProperty([operation]);
    await query('ALTER TABLE gone RENAME TO answer_shape');
    const call = await answered(operation, { error: 'None' });
    await isListed(operation, 1);
    expect(await listed(operation)).toMatchObject([{ first_call_id: call }]);
  });

  it('lists at most a hundred shapes of an operation, and counts the rest', async () => {
    const operation = 'POST /account/delete-unpaid-transaction';
    await query(
      `INSERT INTO answer_shape (id, operation, http_status, fingerprint, shape, first_call_id)
       SELECT gen_random_uuid(), $1, 418, sha256(n::text::bytea), '{"type":["string"]}', gen_random_uuid()
       FROM generate_series(1, 99) n`,
      [operation],
    );
    await answered(operation, { first: 1 });
    await isListed(operation, 100);
    await answered(operation, { second: 1 });
    await eventually(async () => (await counted('unlisted'))[operation] === 1);
    for (const data of [{ second: 2 }, { first: 2 }, { third: 1 }]) await answered(operation, data);
    expect(await counted('unlisted')).toEqual({ [operation]: 3 });
    expect(await listed(operation)).toHaveLength(100);
    paying.upstream.behaviour = answer(200, { status: 'success', data: [] });
    // Another operation has its own hundred.
    await paying.proxy.get(paying.app, '/api/v0.1/sub-account/list').expect(200);
    await isListed('GET /sub-account/list', 1);
  });

  it('fails no call for hostile responses, and stores little of them', async () => {
    const operation = 'POST /payouts/credit';
    const many = phones(5_000);
    const names = many.map((phone) =>
      phone.slice(-5).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''),
    );
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (const data of [
      deep,
      `{${names.map((name) => `"${name}":${JSON.stringify(name)}`).join()}}`,
      `{${many.map((phone) => `"${phone}":{"status":"Sent"}`).join()}}`,
      `[${names.map((name) => `{"${name}":{"${name}":1}}`).join()}]`,
      '{"__proto__":{"constructor":1},"constructor":{"prototype":[]},"toString":1,"hasOwnProperty":null}',
    ]) {
      paying.upstream.behaviour = answer(200, `{"status":"success","data":${data}}`);
      await ask(operation).expect(200);
    }
    await isListed(operation, 5);
    const found = await listed(operation);
    for (const { shape } of found) expect(JSON.stringify(shape).length).toBeLessThan(50_000);
    expect(JSON.stringify(found)).not.toContain('2547000'); // Prefix of the phone numbers.
    expect(Object.keys(at(found[0]!.shape, 'properties/data/properties') as object)).toContain(
      'hasOwnProperty',
    );
  });
});
