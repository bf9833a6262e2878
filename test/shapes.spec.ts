import { Client } from 'pg';
import { MetricsService } from '../src/http/metrics/metrics.service';
import type { ShapeRecord } from './support/api';
import { answer, reset } from './support/fake-upstream';
import { AIRTIME, eventually, Paying, PHONE, phones, startPaying } from './support/paying';
import { startProxy, TestProxy } from './support/proxy';
import { TestDatabase } from './support/test-database';
import { at } from './support/damage';

const AIRTIME_OPERATION = 'POST /payouts/airtime';
const PERSON = { email: 'ada@example.com', phone: '+254712345678', id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' };
const SHAPES = '/v1/audit/shapes';

describe('the watch over the shapes of answers', () => {
  let paying: Paying;
  /** The lines that were logged of shapes, as they were given to the logger. */
  let logged: unknown[][];

  beforeEach(async () => {
    paying = await startPaying();
    logged = [];
    hear(paying.proxy);
  });
  afterEach(() => paying.close());

  function hear({ app }: TestProxy): void {
    const log = (...line: unknown[]) => void (line.at(-1) === 'Shapes' && logged.push(line));
    app.useLogger({ log: () => undefined, warn: log, error: log, fatal: log });
  }

  /** One more instance on the same database. */
  async function another(): Promise<TestProxy> {
    const proxy = await startProxy({ upstreamBaseUrl: paying.upstream.url }, paying.proxy.database);
    hear(proxy);
    return proxy;
  }

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const listed = async (filter = '') =>
    (await paying.proxy.get(paying.auditor, `${SHAPES}?page_size=200${filter}`).expect(200)).body.shapes;
  const isListed = (count: number) => eventually(async () => (await listed()).length === count);

  /** The counters of this name that are not zero, by operation. */
  async function counted(name: string, { app }: TestProxy = paying.proxy): Promise<Record<string, number>> {
    const { body } = await app.get(MetricsService, { strict: false }).text();
    const lines = body.matchAll(
      new RegExp(`^payout_proxy_${name}_answer_shapes_total\\{operation="(.+)"\\} (\\d+)$`, 'gm'),
    );
    return Object.fromEntries([...lines].map(([, operation = '', count]) => [operation, Number(count)]));
  }

  /** Pays, and is answered like this. */
  async function answered(data: unknown, status = 200): Promise<string> {
    paying.upstream.behaviour = answer(status, { status: 'success', data });
    const { headers } = await paying.pay().expect(status);
    return headers['x-call-id'] as string;
  }

  it('lists, counts and logs a shape once, without a value, however often it occurs', async () => {
    const data = (valueInUSD: unknown) => ({
      error: 'None',
      data: [{ chiRef: PERSON.id, valueInUSD, phone: PERSON.phone }],
      payouts: { [PERSON.email]: 1, [PERSON.phone]: 2, [PERSON.id]: 3, issueID: PERSON.id },
    });
    const first = await answered(data(1));
    for (const value of [2, 3]) await answered(data(value));
    await isListed(1);
    const second = await answered(data('0.1'));
    await answered(data(4));
    await isListed(2);
    const found = await listed();
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
    expect(await counted('new')).toEqual({ [AIRTIME_OPERATION]: 2 });
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

  it('tracks each operation and HTTP status separately, and treats non-JSON and missing answers as such', async () => {
    const proxy = await another();
    const pay = () => proxy.post(paying.app, '/payouts/airtime', AIRTIME);
    await pay().expect(200);
    paying.upstream.behaviour = answer(502, '<html>');
    await pay().expect(502);
    paying.upstream.behaviour = answer(204, '');
    await pay().expect(502);
    paying.upstream.behaviour = reset;
    await pay().expect(502);
    paying.upstream.behaviour = answer(200, { status: 'success', data: [] });
    await proxy.get(paying.app, '/api/v0.1/wallets/list').expect(200);
    await proxy.close(); // what is under way is recorded by then
    const found = await listed();
    expect(found.reverse().map(({ operation, http_status, shape }) => [operation, http_status, shape.type])).toEqual([
      [AIRTIME_OPERATION, 200, ['object']],
      [AIRTIME_OPERATION, 502, ['not JSON']],
      [AIRTIME_OPERATION, 204, ['no body']],
      ['GET /wallets/list', 200, ['object']],
    ]);
  });

  it('recognises after a restart what was seen before it, and combinations of it', async () => {
    await answered([{ email: 'x' }]);
    await answered([{ phone: 'x' }]);
    await isListed(2);
    const again = await another();
    for (const records of [[{ phone: 'y' }], [{ phone: 'y', email: 'y' }], [{}, { phone: 'y' }], []]) {
      paying.upstream.behaviour = answer(200, { status: 'success', data: records });
      await again.post(paying.app, '/payouts/airtime', AIRTIME).expect(200);
    }
    await again.close();
    expect(await listed()).toHaveLength(2);
    expect(await counted('new', again)).toEqual({});
  });

  it('counts a shape once that two instances see at the same time, and records it before they stop', async () => {
    const instances = [await another(), await another()];
    const blocker = new Client({ connectionString: paying.proxy.database.ownerUrl });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE answer_shape IN SHARE MODE'); // reading goes on, writing waits
    await Promise.all(instances.map((instance) => instance.post(paying.app, '/payouts/airtime', AIRTIME).expect(200)));
    await eventually(async () => {
      const waiting = await query("SELECT FROM pg_locks WHERE relation = 'answer_shape'::regclass AND NOT granted");
      return waiting.length === instances.length;
    });
    const stopped = Promise.all(instances.map((instance) => instance.close()));
    await blocker.query('COMMIT');
    await Promise.all([stopped, blocker.end()]);
    expect(await listed()).toHaveLength(1);
    const counts = await Promise.all(instances.map((instance) => counted('new', instance)));
    expect(counts.filter((count) => Object.keys(count).length > 0)).toEqual([{ [AIRTIME_OPERATION]: 1 }]);
    expect(logged).toHaveLength(1);
  });

  it('breaks no call while the database rejects shapes, and records them later', async () => {
    await query('ALTER TABLE answer_shape RENAME TO gone');
    await answered({ error: 'None' });
    await eventually(() => logged.length > 0);
    expect(logged).toEqual([
      [{ err: expect.any(Error) }, 'shapes of upstream answers not recorded, will retry', 'Shapes'],
    ]);
    expect(await counted('new')).toEqual({});
    await query('ALTER TABLE gone RENAME TO answer_shape');
    const call = await answered({ error: 'None' });
    await isListed(1);
    expect(await listed()).toMatchObject([{ first_call_id: call }]);
  });

  it('lists at most a hundred shapes of an operation, and counts the rest', async () => {
    await query(
      `INSERT INTO answer_shape (id, operation, http_status, fingerprint, shape, first_call_id)
       SELECT gen_random_uuid(), $1, 418, sha256(n::text::bytea), '{"type":["string"]}', gen_random_uuid() FROM generate_series(1, 99) n`,
      [AIRTIME_OPERATION],
    );
    await answered({ first: 1 });
    await isListed(100);
    await answered({ second: 1 });
    await eventually(async () => (await counted('unlisted'))[AIRTIME_OPERATION] === 1);
    for (const data of [{ second: 2 }, { first: 2 }, { third: 1 }]) await answered(data);
    expect(await counted('unlisted')).toEqual({ [AIRTIME_OPERATION]: 3 });
    expect(await listed(`&operation=${AIRTIME_OPERATION}`)).toHaveLength(100);
    paying.upstream.behaviour = answer(200, { status: 'success', data: [] });
    await paying.proxy.get(paying.app, '/api/v0.1/wallets/list').expect(200); // another operation has a hundred of its own
    await isListed(101);
  });

  it('breaks no call for hostile answers, and stores little of them', async () => {
    const many = phones(5_000);
    const names = many.map((phone) => phone.slice(-5).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''));
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (const data of [
      deep,
      `{${names.map((name) => `"${name}":${JSON.stringify(name)}`).join()}}`,
      `{${many.map((phone) => `"${phone}":{"status":"Sent"}`).join()}}`,
      `[${names.map((name) => `{"${name}":{"${name}":1}}`).join()}]`,
      '{"__proto__":{"constructor":1},"constructor":{"prototype":[]},"toString":1,"hasOwnProperty":null}',
    ]) {
      paying.upstream.behaviour = answer(200, `{"status":"success","data":${data}}`);
      await paying.pay().expect(200);
    }
    await isListed(5);
    const found = await listed();
    for (const { shape } of found) expect(JSON.stringify(shape).length).toBeLessThan(50_000);
    expect(JSON.stringify(found)).not.toContain(PHONE.slice(1, 8));
    expect(Object.keys(at(found[0]!.shape, 'properties/data/properties') as object)).toContain('hasOwnProperty');
  });

  it('is available to auditors only, by operation, HTTP status and page', async () => {
    await answered({});
    await answered({ error: 'None' });
    paying.upstream.behaviour = answer(400, { status: 'error', error: 'x' });
    await paying.pay().expect(400);
    await paying.proxy.post(paying.app, '/payouts/mobile-money', {}).expect(400); // refused by us: nothing was answered
    await paying.proxy.get(paying.app, '/api/v0.1/wallets/list').expect(400);
    await isListed(4);
    await paying.proxy.get(paying.app, SHAPES).expect(403);
    for (const bad of ['http_status=abc', 'http_status=99', 'page_size=0', 'page_token=x', 'operation=', 'shape=x'])
      expect([bad, (await paying.proxy.get(paying.auditor, `${SHAPES}?${bad}`)).status]).toEqual([bad, 400]);
    const all = await listed();
    const named = (shapes: ShapeRecord[]) => shapes.map(({ operation, http_status }) => [operation, http_status]);
    expect(named(all)).toEqual([
      ['GET /wallets/list', 400],
      [AIRTIME_OPERATION, 400],
      [AIRTIME_OPERATION, 200],
      [AIRTIME_OPERATION, 200],
    ]);
    expect(await listed(`&operation=${AIRTIME_OPERATION}`)).toEqual(all.slice(1));
    expect(await listed('&http_status=400')).toEqual(all.slice(0, 2));
    expect(await listed(`&http_status=400&operation=${AIRTIME_OPERATION}`)).toEqual(all.slice(1, 2));
    for (const size of [1, 3, 4]) {
      const pages: ShapeRecord[] = [];
      for (let token: string | null = ''; token !== null;) {
        const from: string = token && `&page_token=${token}`;
        const { body } = await paying.proxy.get(paying.auditor, `${SHAPES}?page_size=${size}${from}`).expect(200);
        pages.push(...body.shapes);
        token = body.next_page_token;
      }
      expect(pages).toEqual(all);
    }
  });
});
