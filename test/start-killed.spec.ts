import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { removeDataDir } from './support/data-dir';
import { AIRTIME, eventually } from './support/paying';
import { newDataDir, Product, readJson } from './support/process';
import supertest from './support/supertest';

const READY = /payout-proxy is ready\s+(http\S+)/;
const ROOT = join(__dirname, '..');

/** Starts that meet each other, or whose processes are killed. */
describe('a start', () => {
  const dataDir = newDataDir();
  const env = { DATA_DIR: dataDir, PORT: '0' };
  const start = () => new Product('main.js', [], env, dataDir);
  afterAll(() => removeDataDir(dataDir));

  const numberOfPostgres = () =>
    Number(
      readFileSync(join(realpathSync(join(dataDir, 'postgres')), 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0],
    );
  const isGone = (pid: number) => {
    try {
      return !process.kill(pid, 0);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ESRCH';
    }
  };
  const answers = (url: string) => fetch(url).then(Boolean, () => false);

  /** What runs of a start that is ready. */
  async function everythingOf(product: Product) {
    const [, url = ''] = await product.said(READY);
    const sandbox = readJson(dataDir, 'sandbox.json').url;
    expect(await Promise.all([answers(url), answers(sandbox)])).toEqual([true, true]);
    return { url, sandbox, postgres: numberOfPostgres() };
  }

  async function expectNothingLeft({
    url,
    sandbox,
    postgres,
  }: Awaited<ReturnType<typeof everythingOf>>): Promise<void> {
    await eventually(() => Promise.resolve(isGone(postgres)));
    await eventually(async () => !(await answers(sandbox)));
    expect(await answers(url)).toBe(false);
  }

  /** The one of the first starts that became ready. */
  let winner: Product;

  it('is refused where another first start is under way, which is not disturbed', async () => {
    const twins = [start(), start(), start()];
    const ends = await Promise.all(
      twins.map(async (twin) => {
        const ready = twin.said(READY).then(
          () => 'ready',
          () => 'refused',
        );
        return [twin, await ready] as const;
      }),
    );
    const refused = ends.filter(([, end]) => end === 'refused');
    expect(refused).toHaveLength(2);
    for (const [twin] of refused) {
      const { code, stderr } = await twin.exit;
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^payout-proxy: another payout-proxy already uses .*\n$/),
      ]);
    }
    const [ready] = ends.find(([, end]) => end === 'ready') ?? [];
    if (!ready) throw new Error('none of them is ready');
    winner = ready;
    const { url } = await everythingOf(winner);
    const { app } = readJson(dataDir, 'demo-keys.json');
    await supertest(url).get('/api/v0.1/wallets/list').set('X-API-Key', app).expect(200);
  });

  it('leaves no sandbox and no Postgres running when the proxy is killed, and the next one finds its data', async () => {
    const running = await everythingOf(winner);
    const keys = readJson(dataDir, 'demo-keys.json');
    void winner.signal('SIGKILL');
    const next = start(); // while what was left behind is still ending
    await next.said(READY);
    expect(isGone(running.postgres)).toBe(true);
    expect(readJson(dataDir, 'demo-keys.json')).toEqual(keys);
    const left = await everythingOf(next);
    await supertest(left.url).post('/api/v0.1/payouts/airtime').set('X-API-Key', keys.app).send(AIRTIME).expect(200);
    await next.signal('SIGKILL');
    await expectNothingLeft(left);
  });

  it('leaves nothing running when the npm that runs it is killed', async () => {
    const npm = new Product('/usr/bin/env', ['npm', '--prefix', ROOT, 'start'], env, dataDir);
    const running = await everythingOf(npm);
    await npm.signal('SIGKILL'); // resolves when the last of its children has closed its output
    await expectNothingLeft(running);
  });
});
