import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { AIRTIME, eventually } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { createClient } from '../support/processes/fleet';
import { envOf, newDataDir, Product } from '../support/processes/process';
import { UPSTREAM_KEY } from '../support/processes/proxy';

const READY = /payout-proxy is ready\s+(http\S+)/;

/** A worker that receives SIGUSR2 blocks its event loop from then on, like a long computation. */
const BUSY = `
  if (process.argv[1].endsWith('worker/main.js')) process.on('SIGUSR2', () => {
    const end = Date.now() + 60_000;
    while (Date.now() < end);
  });`;

/** Below the timeout of a call in flight, and above the duration of a busy worker. */
const SECONDS_MS = 12_000;

describe('the worker of npm start', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let dir: string;
  let key: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    dir = newDataDir();
    writeFileSync(join(dir, 'busy.cjs'), BUSY);
    ({ key } = await createClient(database, 'app', ['pay']));
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    removeDataDir(dir);
  });

  const start = async () => {
    const upstreamEnv = { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEY: UPSTREAM_KEY };
    const own = { START_WORKER: 'true', DATA_DIR: dir, NODE_OPTIONS: `--require ${join(dir, 'busy.cjs')}` };
    const product = new Product(
      'main.js',
      [],
      { ...envOf(database), ...upstreamEnv, ...own, DUPLICATE_GUARD: 'false' },
      dir,
    );
    const [, url = ''] = await product.said(READY);
    return { product, url };
  };
  /** @returns the process IDs of the worker children. */
  const workersOf = ({ pid }: Product) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .filter((child) => child !== '' && commandOf(child).includes('worker/main.js'));
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return ''; // it has exited
    }
  };
  const isRunning = async (url: string) => {
    const { body } = await supertest(url).get('/readyz').expect(200);
    const { worker } = (
      body as unknown as { details: { worker: { running: boolean; jobs_not_held: string[] } } }
    ).details;
    return worker.running && worker.jobs_not_held.length === 0;
  };
  const pay = (url: string) =>
    supertest(url).post('/api/v0.1/payouts/airtime').set('X-API-Key', key).send(AIRTIME);

  it('is restarted when it is killed, and ends with the proxy, also while it computes', async () => {
    const { product, url } = await start();
    await eventually(() => isRunning(url));
    const [first = ''] = workersOf(product);
    process.kill(Number(first), 'SIGKILL');
    await eventually(() => !workersOf(product).includes(first) && workersOf(product).length === 1);
    await eventually(() => isRunning(url));

    const [second = ''] = workersOf(product);
    process.kill(Number(second), 'SIGUSR2');
    await pay(url).expect(200);
    await supertest(url).get('/livez').expect(200);
    const asked = performance.now();
    expect(await product.signal('SIGTERM')).toMatchObject({ code: 0 });
    expect(performance.now() - asked).toBeLessThan(SECONDS_MS);
    expect(commandOf(second)).toBe('');
    expect(product.stderr).toMatch(
      /^payout-proxy: the worker has stopped \(SIGKILL\)\. Another one is started\.\n$/,
    );
  });

  it('ends when the proxy is killed', async () => {
    const { product, url } = await start();
    await eventually(() => isRunning(url));
    const [worker = ''] = workersOf(product);
    expect(commandOf(worker)).not.toBe('');
    await product.signal('SIGKILL');
    await eventually(() => commandOf(worker) === '');
  });
});
