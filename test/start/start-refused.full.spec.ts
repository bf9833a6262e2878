import Fastify from 'fastify';
import { startDependencies } from '../../src/app/start/dependencies';
import { listen } from '../../src/app/start/listen';
import { loadConfig, StartError } from '../../src/platform/config/config';
import { lockDataDir } from '../../src/platform/database/embedded/directory-lock';
import { removeDataDir } from '../support/processes/data-dir';
import { newDataDir, Product } from '../support/processes/process';

const dataDir = newDataDir();
afterAll(() => removeDataDir(dataDir));
const start = (more: Record<string, string>) =>
  new Product('main.js', [], { DATA_DIR: dataDir, PORT: '0', ...more }, dataDir);

describe('a failed start', () => {
  const reason = (starting: Promise<unknown>) =>
    starting.then(
      () => 'it started',
      (error: unknown) => {
        expect(error).toBeInstanceOf(StartError); // main.ts writes it on one line, and exits with 1
        return (error as Error).message;
      },
    );

  it('reports a bad variable in one line, without its value, and exits with 1', async () => {
    const { code, stderr } = await start({ PORT: 'eighty', DATABASE_URL: 'mysql://user:hunter2@db/x' }).exit;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^payout-proxy: .*PORT .*DATABASE_URL.*\n$/)]);
    expect(stderr).not.toMatch(/eighty|hunter2/);
  });

  it("reports a variable of the sandbox in the sandbox's own line, and exits with 1", async () => {
    const { code, stderr } = await start({ SANDBOX_QUIRKS: 'unheardOf' }).exit;
    const line = /^payout-proxy: sandbox cannot start: SANDBOX_QUIRKS must name quirks.*\n$/;
    expect([code, stderr]).toEqual([1, expect.stringMatching(line)]);
  });

  it('reports a taken port in one line', async () => {
    const [holder, late] = [Fastify(), Fastify()];
    const host = '127.0.0.1';
    const port = Number(new URL(await holder.listen({ host, port: 0 })).port);
    expect(await reason(listen(late, { host, port }))).toMatch(new RegExp(`^port ${port} is in use\\. .*$`));
    await holder.close();
  });

  it('reports an unreachable database in one line, without its password', async () => {
    const database = { DATABASE_URL: 'postgresql://user:hunter2@127.0.0.1:1/records' };
    const upstream = { UPSTREAM_BASE_URL: 'http://127.0.0.1:1', UPSTREAM_API_KEY: 'the-key-of-nobody' };
    const config = loadConfig({ DATA_DIR: dataDir, ...database, ...upstream });
    const lock = await lockDataDir(dataDir, false);
    const line = await reason(startDependencies(config, lock, () => undefined, 0));
    await lock.release();
    expect(line).toMatch(/^the database records at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\).*$/);
    expect(line).not.toContain('hunter2');
  });
});
