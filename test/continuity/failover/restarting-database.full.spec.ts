import { Logger } from '@nestjs/common';
import { COMMAND_LOG } from '../../../src/cli/terminal';
import { RestartingPostgres } from '../../support/databases/restarting-postgres';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { runCli } from '../../support/processes/cli';
import { removeDataDir } from '../../support/processes/data-dir';
import { envOf, newDataDir, Product } from '../../support/processes/process';
import { UPSTREAM_KEY } from '../../support/processes/proxy';
import { LOG_KEY } from '../../support/records/log-key';

const WAITING = /\{[^\n]*"reason":"57P03"[^\n]*"msg":"waiting for the database"\}/;

describe('a restarting Postgres', () => {
  const dir = newDataDir();
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let postgres: RestartingPostgres;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
  });
  beforeEach(async () => (postgres = await RestartingPostgres.before(database.ownerUrl, 'starting')));
  afterEach(() => postgres.become('gone'));
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    removeDataDir(dir);
  });

  const env = () => ({
    ...envOf({ url: postgres.url(database.url), ownerUrl: postgres.url(database.ownerUrl) }),
    DATA_DIR: dir,
    LOG_SIGNING_KEY: LOG_KEY,
    UPSTREAM_BASE_URL: upstream.url,
    UPSTREAM_API_KEY: UPSTREAM_KEY,
  });

  it('makes a proxy wait, log once, and start', async () => {
    const proxy = new Product('main.js', [], env(), dir);
    await proxy.said(WAITING);
    await postgres.become('gone');
    await postgres.become('running');
    await proxy.said(/payout-proxy is ready/);
    expect(proxy.stdout.match(/waiting for the database/g)).toHaveLength(1);
    expect(await proxy.signal('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('makes a worker wait and start, and does not end it later', async () => {
    const worker = new Product('worker/main.js', [], env(), dir);
    await worker.said(WAITING);
    await postgres.become('running');
    const [, url = ''] = await worker.said(/"(http[^"]+)"[^\n]*"msg":"worker is ready"/);
    const status = async () => (await fetch(`${url}/readyz`)).status;
    await eventually(async () => (await status()) === 200);
    await postgres.become('gone');
    await eventually(async () => (await status()) === 503);
    await postgres.become('running');
    await eventually(async () => (await status()) === 200);
    expect(await worker.signal('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('makes a command wait and continue', async () => {
    Logger.overrideLogger(COMMAND_LOG); // as the command line does
    const running = runCli(['clients', 'list', '--json'], env(), dir);
    setTimeout(() => void postgres.become('running'), 300);
    const { code, stdout, stderr } = await running;
    expect([code, stdout, stderr]).toEqual([
      0,
      '[]\n',
      expect.stringMatching(/^waiting for the database .*57P03.*\n$/),
    ]);
  });

  it('differs from a closed port, which fails a command at once with the address', async () => {
    await postgres.become('gone');
    const { code, stderr } = await runCli(['clients', 'list', '--json'], env(), dir);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot be reached \(ECONNREFUSED\)/)]);
  });
});
