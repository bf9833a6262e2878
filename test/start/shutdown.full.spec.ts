import { loadConfig, StartError } from '../../src/platform/config/config';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { FakeUpstream, succeed } from '../support/network/fake-upstream';
import { AIRTIME, airtime, eventually, PHONE } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { createClient } from '../support/processes/fleet';
import { newDataDir, Product } from '../support/processes/process';
import { startProxy, UPSTREAM_KEY } from '../support/processes/proxy';

const READY = /payout-proxy is ready\s+(http\S+)/;
const FOREVER = '600000';
const OTHER_PHONE = '+254700000001';

/** Runs the product as a separate process, with the test's database and upstream. */
describe('a proxy that receives SIGTERM', () => {
  const dataDir = newDataDir();
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let environment: Record<string, string>;
  let key: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    environment = {
      DATA_DIR: dataDir,
      PORT: '0',
      DRAIN_MS: FOREVER,
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEY: UPSTREAM_KEY,
      CHECK_COVERAGE: 'false',
      DUPLICATE_GUARD: 'false', // the tests repeat one payment
    };
    key = (await createClient(database, 'app', ['pay'])).key;
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    removeDataDir(dataDir);
  });

  async function start() {
    const product = new Product('main.js', [], environment, dataDir);
    const [, url = ''] = await product.said(READY);
    return { product, url };
  }
  const pay = (url: string, body: object) =>
    fetch(`${url}/api/v0.1/payouts/airtime`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const statusOf = async (url: string) => (await fetch(`${url}/readyz`)).status;
  const outcomeOf = (response: Response) =>
    database.query('SELECT kind FROM outcome WHERE intent_id = $1', [response.headers.get('x-call-id')]);

  it('serves requests until a second signal, finishes those in flight, and exits with 0', async () => {
    const { product, url } = await start();
    expect(await statusOf(url)).toBe(200);
    const arrived = new Promise<() => unknown>((resolve) => {
      upstream.behaviour = (...args) => {
        upstream.behaviour = succeed;
        resolve(() => succeed(...args));
      };
    });
    const inFlight = pay(url, airtime(PHONE));
    const release = await arrived;

    const exit = product.signal('SIGTERM');
    await eventually(async () => (await statusOf(url)) === 503);
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({
      code: 'not_ready',
      detail: expect.stringContaining('The proxy is shutting down'),
    });
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const late = await pay(url, airtime(OTHER_PHONE));
    expect(late.status).toBe(200);

    void product.signal('SIGTERM'); // forces the shutdown
    await eventually(() =>
      statusOf(url).then(
        () => false,
        () => true,
      ),
    ); // new connections are refused
    release();
    const finished = await inFlight;
    expect(finished.status).toBe(200);
    expect(await finished.json()).toMatchObject({ status: 'success' });
    expect(await exit).toMatchObject({ code: 0, stderr: '' });
    for (const response of [finished, late])
      expect(await outcomeOf(response)).toEqual([{ kind: 'succeeded' }]);
  });

  it('skips the drain for Ctrl-C', async () => {
    const { product, url } = await start();
    upstream.behaviour = succeed;
    expect((await pay(url, AIRTIME)).status).toBe(200);
    expect(await product.signal('SIGINT')).toMatchObject({ code: 0, stderr: '' });
  });

  it('does not start with a deadline for an unknown operation', async () => {
    const { upstreamTimeouts } = loadConfig({
      UPSTREAM_TIMEOUTS: 'POST /send=2000,POST /payouts/airtme=60000',
    });
    const starting = startProxy({ upstreamBaseUrl: upstream.url, upstreamTimeouts }, database);
    await expect(starting).rejects.toThrow(
      new StartError(
        'UPSTREAM_TIMEOUTS names POST /payouts/airtme, which is neither an operation nor one of payout, ' +
          'change, lookup, listing. docs/reference/operations.md lists the operations.',
      ),
    );
  });
});
