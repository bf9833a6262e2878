import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import supertest from '../support/http/supertest';
import { FakeUpstream, reset, succeed } from '../support/network/fake-upstream';
import { airtime, eventually, PHONE } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { createClient } from '../support/processes/fleet';
import { envOf, newDataDir, Product } from '../support/processes/process';
import { UPSTREAM_KEY } from '../support/processes/proxy';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the production log', () => {
  const dir = newDataDir();
  let database: TestDatabase;
  let upstream: FakeUpstream;
  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    removeDataDir(dir);
  });

  const start = (script: string) => {
    const own = {
      NODE_ENV: 'production',
      DUAL_CONTROL: 'true',
      HOST: '127.0.0.1',
      METRICS_PORT: '0',
      DATA_DIR: dir,
      PUBLIC_URL: 'https://pay.example.com',
    };
    const upstreamEnv = { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEY: UPSTREAM_KEY };
    return new Product(script, [], { ...envOf(database), ...own, ...upstreamEnv }, dir);
  };
  const linesOf = ({ stdout }: Product) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const started = {
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    commit: expect.stringMatching(/^([0-9a-f]{40}(-dirty)?|unknown)$/),
    address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    schema: expect.stringMatching(/^\d{14}_\w+$/),
  };

  it('has one line at the start, one per request except probes, and two at the end of a proxy', async () => {
    const { key } = await createClient(database, 'app', ['pay']);
    const product = start('main.js');
    await product.said(/"msg":"proxy is ready"/);
    const [ready = {}] = linesOf(product);
    expect(ready).toMatchObject({ ...started, process: 'proxy', upstream: new URL(upstream.url).host });
    const { address, metrics } = ready as { address: string; metrics: string };
    for (const probe of [`${address}/livez`, `${address}/readyz`, `${address}/metrics`, `${metrics}/metrics`])
      await fetch(probe);
    expect(await (await fetch(`${metrics}/metrics`)).text()).toMatch(
      /^payout_proxy_build_info\{version="[\d.]+",commit="\S+"\} 1$/m,
    );
    const pay = (key: string, traceparent: string, phone = PHONE) =>
      supertest(address)
        .post('/api/v0.1/payouts/airtime')
        .set({ 'X-API-Key': key, traceparent, Host: 'pay.example.com' })
        .send(airtime(phone));
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
    await pay(key, traceparent).expect(200);
    await pay('pp_unknown', 'not a trace').expect(401);
    upstream.behaviour = reset; // the proxy logs this, too
    await pay(key, traceparent, '+254700000001').expect(502);
    await eventually(() => linesOf(product).some(({ outcome }) => outcome === 'unknown'));

    expect(await product.signal('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    const [, ...lines] = linesOf(product);
    const requests = lines.filter((line) => 'duration_ms' in line);
    expect(requests.map(({ status, trace_id: trace }) => [status, trace])).toEqual([
      [200, TRACE],
      [401, undefined],
      [502, TRACE],
    ]);
    const shape = lines.find((line) => 'fingerprint' in line); // a second line about the first request
    expect(shape).toMatchObject({ call_id: requests[0]?.call_id, trace_id: TRACE });
    expect(lines.filter((line) => !('call_id' in line))).toMatchObject([
      { msg: 'proxy is stopping', reason: 'SIGTERM' },
      { msg: 'proxy has stopped' },
    ]);
  });

  it('has one line at the start and two at the end of a worker', async () => {
    const product = start('worker/main.js');
    await product.said(/"msg":"worker is ready"/);
    expect(await product.signal('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    const lines = linesOf(product);
    expect(lines).toMatchObject([
      { ...started, process: 'worker', upstream: new URL(upstream.url).host },
      { msg: 'worker is stopping', reason: 'SIGTERM' },
      { msg: 'worker has stopped' },
    ]);
  });
});
