import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/database/embedded/embedded-postgres';
import supertest from '../support/http/supertest';
import { FakeUpstream, succeed } from '../support/network/fake-upstream';
import { AIRTIME } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { newDataDir, Product } from '../support/processes/process';
import { UPSTREAM_KEY } from '../support/processes/proxy';

const RELEASE = join(__dirname, '..', '..', 'tools', 'release.mjs');
const MOST_MEGABYTES = 190;

/** Follows deploy.md: no Docker, no registry, and no other file of this project. */
describe('a release', () => {
  const parent = mkdtempSync(join(tmpdir(), 'payout-proxy-release-'));
  const folder = join(parent, 'payout-proxy');
  const dataDir = newDataDir();
  let postgres: EmbeddedPostgres;
  let upstream: FakeUpstream;
  let env: Record<string, string>;

  beforeAll(async () => {
    const { status, stderr } = spawnSync(process.execPath, [RELEASE, '--out', folder], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    postgres = await startEmbeddedPostgres(dataDir);
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    env = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      DATA_DIR: join(parent, 'data'),
      PUBLIC_URL: 'https://pay.example.com',
      DATABASE_URL: postgres.urls.owner,
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEY: UPSTREAM_KEY,
      CHECK_COVERAGE: 'false',
      DUAL_CONTROL: 'false',
    };
  });
  afterAll(async () => {
    await upstream.stop();
    await postgres.stop();
    removeDataDir(dataDir);
    rmSync(parent, { recursive: true });
  });

  /** Starts a program of the release with production settings, without the speedups of other tests. */
  const run = (...args: string[]) => new Product(process.execPath, args, env, folder);
  const sizeOf = (path: string): number => {
    const { blocks } = lstatSync(path);
    const inside = lstatSync(path).isDirectory()
      ? readdirSync(path).map((name) => sizeOf(join(path, name)))
      : [];
    return inside.reduce((sum, size) => sum + size, blocks * 512);
  };

  it('is small', () => {
    expect(sizeOf(folder) / 1_000_000).toBeLessThan(MOST_MEGABYTES);
  });

  it('installs its schema, starts in production, pays, and stops', async () => {
    expect(await run('dist/cli/main.js', 'database', 'migrate').exit).toMatchObject({ code: 0, stderr: '' });
    const app = ['--name', 'app', '--scopes', 'pay', '--daily-cap', '10', '--json'];
    const { stdout, stderr } = await run('dist/cli/main.js', 'clients', 'create', ...app).exit;
    expect(stderr).toBe('');
    const { key } = JSON.parse(stdout) as { key: string };

    const proxy = run('dist/main.js');
    const [, url = ''] = await proxy.said(/"address":"(http[^"]+)".*"msg":"proxy is ready"/);
    const paying = supertest(url)
      .post('/api/v0.1/payouts/airtime')
      .set({ 'X-API-Key': key, Host: 'pay.example.com' });
    await paying.send(AIRTIME).expect(200);
    expect(upstream.received).toHaveLength(1);
    await supertest(url).get('/console').set('Host', 'pay.example.com').expect(200);
    expect(await proxy.signal('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('replaces a release, and no other folder', () => {
    const again = spawnSync(process.execPath, [RELEASE, '--out', parent], { encoding: 'utf8' });
    expect([again.status, again.stderr]).toEqual([
      1,
      expect.stringContaining('is no release, so it is not replaced'),
    ]);
  });
});
