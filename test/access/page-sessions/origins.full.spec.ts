import { createServer, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { SidePrisma } from '../../../src/platform/database/pools/side-prisma';
import { mint } from '../../support/access/minting';
import { startBrowser, TestBrowser } from '../../support/console/browser';
import type { Answer } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { AIRTIME } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const WALLETS = '/api/v0.1/wallets/list';
const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';

/** Headers that telemetry adds to requests: Sentry, OpenTelemetry, Datadog, Application Insights, jQuery. */
const TELEMETRY = {
  'sentry-trace': '771a43a4192642f0b136d5159a501700-7557d0d7d7a4d2d9-1',
  baggage: 'sentry-environment=production',
  tracestate: 'dd=s:1',
  'x-datadog-trace-id': '1234567890',
  'request-id': '|a1b2.c3d4.',
  'x-requested-with': 'XMLHttpRequest',
};

const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** See CORS, https://fetch.spec.whatwg.org/#http-cors-protocol. */
describe('a page origin', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let shop: string;
  let server: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    shop = (await proxy.client('shop', 'read', 'pay', 'account')).key;
    server = (await proxy.client('server', 'read', 'account')).key;
    await allow('shop', SHOP);
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const allow = (name: string, ...origins: string[]) =>
    proxy.database.query('UPDATE client SET origins = $2 WHERE name = $1', [name, origins]);
  const preflight = (origin: string, path = WALLETS) =>
    supertest(proxy.url).options(path).set({
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-api-key',
    });
  const get = <const Path extends string = typeof WALLETS>(
    key: string,
    origin: string,
    path = WALLETS as Path,
  ) => proxy.get(key, path).set('Origin', origin);
  const refusals = async () =>
    (await proxy.database.query("SELECT 1 FROM refusal WHERE code = 'key_in_browser'")).length;
  const corsOf = ({ headers }: Answer) =>
    Object.keys(headers).filter((name) => name.startsWith('access-control-'));

  it('passes preflights for every path if any client allows it', async () => {
    for (const path of [WALLETS, '/api/v0.1/payouts/airtime', '/v1/calls/x', '/api/v0.1/nothing']) {
      const { headers, text } = await preflight(SHOP, path).expect(204);
      expect(text).toBe('');
      expect(headers).toMatchObject({
        'access-control-allow-origin': SHOP,
        'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
        'access-control-allow-headers': 'x-api-key',
        'access-control-max-age': '600',
        vary: 'Origin, Access-Control-Request-Headers',
        'x-call-id': expect.any(String),
      });
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  it('may send any header, because telemetry adds its own', async () => {
    const headers = Object.keys(TELEMETRY).join(',');
    const answer = await preflight(SHOP).set('Access-Control-Request-Headers', headers).expect(204);
    expect(answer.headers['access-control-allow-headers']).toBe(headers);
  });

  it.each([OTHER, 'null', `${SHOP}.evil.example`, 'http://shop.example', SHOP.toUpperCase(), '*'])(
    'is absent from the preflight of another origin: %s',
    async (origin) => {
      const answer = await preflight(origin).expect(405);
      expect(corsOf(answer)).toEqual([]);
      expect(answer.body).toMatchObject({ code: 'method_not_allowed', call_id: answer.headers['x-call-id'] });
    },
  );

  it('lets an allowed page read every error and its headers', async () => {
    const answers = [
      await supertest(proxy.url).get(WALLETS).set('Origin', SHOP).expect(401),
      await get('pp_wrong', SHOP).expect(401),
      await get(shop, SHOP).expect(403),
      await get(shop, SHOP, '/v1/nothing').expect(403),
    ];
    expect(answers.map(({ headers }) => headers['access-control-allow-origin'])).toEqual(Array(4).fill(SHOP));
    expect(answers[0]?.headers).toMatchObject({
      'access-control-expose-headers':
        'X-Call-Id, X-Request-Id, Idempotent-Replayed, Location, Retry-After, RateLimit, ' +
        'RateLimit-Policy, Server-Timing, Age, WWW-Authenticate',
      vary: 'Origin',
    });
    expect(corsOf(await get(shop, OTHER).expect(403))).toEqual([]);
  });

  it.each([
    ['an allowed origin', { Origin: SHOP }],
    ['another origin', { Origin: OTHER }],
    ['a hidden origin', { Origin: 'null' }],
    ['another site, without its origin', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
    ['another host of the same site, without its origin', { 'Sec-Fetch-Site': 'same-site' }],
    ['an app in a web view', { Origin: 'capacitor://localhost' }],
  ])('cannot use a secret key: %s', async (_page, headers) => {
    const [sentBefore, recorded] = [upstream.received.length, await refusals()];
    for (const key of [shop, server]) {
      const { body } = await proxy.get(key, WALLETS).set(headers).expect(403);
      expect(body).toMatchObject({ status: 'error', code: 'key_in_browser', action: 'fix_request' });
      expect(body.error).toMatch(/ephemeral key/);
      expect(body.error).toMatch(/access token/);
    }
    const payment = { airtimes: [] };
    expect((await proxy.post(shop, '/payouts/airtime', payment).set(headers).expect(403)).body.code).toBe(
      'key_in_browser',
    );
    expect(upstream.received.length).toBe(sentBefore);
    expect(await refusals()).toBe(recorded + 3);
  });

  it.each([
    ['a server', {}],
    ['a server on Node, whose fetch sets a header of browsers', { 'Sec-Fetch-Mode': 'cors' }],
    ['a person with a tool', { 'Sec-Fetch-Site': 'none' }],
  ])('does not restrict %s', async (_caller, headers) => {
    await proxy.get(shop, WALLETS).set(headers).expect(200);
    expect(corsOf(await proxy.get(server, WALLETS).set(headers).expect(200))).not.toContain(
      'access-control-allow-origin',
    );
  });

  it('lets a page of the proxy, such as /docs, use a key', async () => {
    await proxy.get(shop, WALLETS).set({ Origin: proxy.url, 'Sec-Fetch-Site': 'same-origin' }).expect(200);
  });

  it('lets a page read that the database is unavailable', async () => {
    const prisma = proxy.app.get(SidePrisma, { strict: false });
    const query = jest.spyOn(prisma, 'prepared').mockRejectedValue(new Error('gone'));
    const { headers, body } = await get(shop, SHOP).expect(503);
    query.mockRestore();
    expect([body.code, headers['access-control-allow-origin']]).toEqual(['database_unavailable', SHOP]);
  });

  describe('in a real browser', () => {
    let browser: TestBrowser;
    let pages: Server;

    beforeAll(async () => {
      pages = createServer((_request, response) =>
        response.setHeader('content-type', 'text/html').end('<p>a page</p>'),
      );
      await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
      browser = await startBrowser();
      await allow('shop', `http://127.0.0.1:${portOf(pages)}`);
    });
    afterAll(async () => {
      await browser.close();
      await new Promise((resolve) => pages.close(resolve));
    });

    const payFrom = async (host: string, key: string, { body = {}, telemetry = {} } = {}) => {
      const page = await browser.browser.newPage();
      await page.goto(`http://${host}:${portOf(pages)}/`);
      const read = await page.evaluate(
        async ({ url, headers, body }) => {
          try {
            const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
            return {
              status: answer.status,
              callId: answer.headers.get('x-call-id'),
              body: await answer.json(),
            };
          } catch (error) {
            return { failed: (error as Error).name };
          }
        },
        {
          url: `${proxy.url}/api/v0.1/payouts/airtime`,
          headers: {
            'X-API-Key': key,
            'Content-Type': 'application/json',
            'Idempotency-Key': 'k-1',
            ...telemetry,
          },
          body,
        },
      );
      await page.close();
      return read;
    };

    it('lets a page with telemetry pay, and forwards none of its headers', async () => {
      upstream.behaviour = succeed;
      const { key } = await mint(proxy, shop);
      const paid = await payFrom('127.0.0.1', key, { body: AIRTIME, telemetry: TELEMETRY });
      expect(paid).toMatchObject({ status: 200 });
      const sent = Object.keys(upstream.received.at(-1)!.headers);
      expect(sent.filter((name) => name in TELEMETRY)).toEqual([]);
    });

    it('lets only a page of the allowed origin read the refusal of its key', async () => {
      const read = await payFrom('127.0.0.1', shop);
      expect(read).toMatchObject({ status: 403, body: { code: 'key_in_browser', call_id: read.callId } });
      expect(await payFrom('127.0.0.1', 'pp_wrong')).toMatchObject({
        status: 401,
        body: { code: 'invalid_key' },
      });
      const before = await refusals();
      expect(await payFrom('localhost', shop)).toEqual({ failed: 'TypeError' });
      expect(await refusals()).toBe(before); // the browser did not even send it
    });
  });
});
