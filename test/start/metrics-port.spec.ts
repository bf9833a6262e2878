import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { serveMetrics } from '../../src/http/health/private-port';
import { loadConfig } from '../../src/platform/config/config';
import supertest from '../support/http/supertest';
import { startProxy, TestProxy } from '../support/processes/proxy';

describe('the metrics port', () => {
  const apart = { host: '127.0.0.1', port: 3000, metricsPort: 0 };
  let proxy: TestProxy;

  beforeAll(async () => (proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9', ...apart })));
  afterAll(() => proxy.close());

  it('serves the metrics, unlike the API port', async () => {
    const served = await serveMetrics(proxy.app, apart);
    const url = served?.url ?? '';
    const { body, type } = await supertest(proxy.url).get('/metrics').expect(404);
    expect([type, body.code]).toEqual(['application/problem+json', 'not_found']);
    const metrics = await supertest(url).get('/metrics').expect(200);
    expect(metrics.type).toBe('text/plain');
    expect(metrics.text).toMatch(/^payout_proxy_problems_total\{code="not_found"\} 1$/m);
    served?.close();
  });

  it('serves nothing else', async () => {
    const served = await serveMetrics(proxy.app, apart);
    const ask = (path: string, method = 'GET') => fetch(`${served?.url}${path}`, { method });
    const paths = ['/', '/livez', '/v1/activity', '/metrics/', '/constructor', '/__proto__'];
    expect(await Promise.all(paths.map(async (path) => (await ask(path)).status))).toEqual(
      paths.map(() => 404),
    );
    expect((await ask('/metrics', 'POST')).status).toBe(405);
    served?.close();
  });

  it('prevents the start if it is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(serveMetrics(proxy.app, { ...apart, metricsPort: port })).rejects.toThrow(
      `cannot listen on port ${port} (EADDRINUSE). Set METRICS_PORT to another port.`,
    );
    await new Promise((resolve) => other.close(resolve));
  });

  it('is the API port outside production, and separate in production', () => {
    expect(loadConfig({ PORT: '4000' }).metricsPort).toBe(4_000);
    const production = {
      NODE_ENV: 'production',
      DATABASE_URL: 'postgresql://proxy@localhost/records',
      UPSTREAM_BASE_URL: 'https://api.example.com',
      UPSTREAM_API_KEY: 'upstream-key',
      PUBLIC_URL: 'https://payouts.example.com',
    };
    expect(loadConfig(production)).toMatchObject({ port: 3_000, metricsPort: 9_464 });
    expect(loadConfig({ ...production, METRICS_PORT: '3000' }).metricsPort).toBe(3_000);
  });
});
