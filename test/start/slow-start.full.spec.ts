import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { FakeUpstream } from '../support/network/fake-upstream';
import { removeDataDir } from '../support/processes/data-dir';
import { envOf, newDataDir, Product } from '../support/processes/process';
import { UPSTREAM_KEY } from '../support/processes/proxy';
import { LOG_KEY } from '../support/records/log-key';

/** The process runs for a fifth of each period, like a quota of a fifth of a core. */
const RUN_MS = 100;
const REST_MS = 400;

describe.each([
  ['a proxy', 'main.js', /payout-proxy is ready/],
  ['a worker', 'worker/main.js', /worker is ready/],
])('%s with a fifth of a core', (_what, script, ready) => {
  const dir = newDataDir();
  let database: TestDatabase;
  let upstream: FakeUpstream;
  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    removeDataDir(dir);
  });

  it('starts', async () => {
    const own = {
      DATA_DIR: dir,
      LOG_SIGNING_KEY: LOG_KEY,
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEY: UPSTREAM_KEY,
    };
    const product = new Product(script, [], { ...envOf(database), ...own }, dir);
    const starting = new AbortController();
    const started = product.said(ready).finally(() => starting.abort());
    await Promise.all([started, pulse(product.pid, starting.signal)]);
    expect(await product.signal('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });
});

/** Suspends a process most of the time. Ends with the process running. */
async function pulse(pid: number, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    process.kill(pid, 'SIGSTOP');
    await sleep(REST_MS);
    process.kill(pid, 'SIGCONT');
    await sleep(RUN_MS, undefined, { signal: until }).catch(() => undefined);
  }
}
