import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKey } from '../../../src/history/log/note';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { eventually } from '../../support/payments/paying';
import { runCli } from '../../support/processes/cli';
import { newDataDir, Product } from '../../support/processes/process';
import { startProxy, TestProxy } from '../../support/processes/proxy';

describe('a backup', () => {
  const signingKey = newSigningKey('drill');
  const dir = newDataDir();
  const before = join(dir, 'before');
  let source: TestDatabase;
  let proxy: TestProxy;

  const cli = (args: string[], env: Record<string, string>) => runCli([...args, '--json'], env, dir);
  const atSource = () => ({
    DATABASE_URL: source.url,
    DATABASE_OWNER_URL: source.ownerUrl,
    DATA_DIR: before,
    LOG_SIGNING_KEY: signingKey,
  });
  const backUpTo = (folder: string) =>
    new Product('cli/main.js', ['database', 'backup', folder], atSource(), dir);

  beforeAll(async () => {
    source = await createTestDatabase();
    const checkpointFile = join(before, 'checkpoints');
    const upstreamBaseUrl = 'http://127.0.0.1:1';
    const log = { logSigningKey: new Secret(signingKey), checkpointFile };
    proxy = await startProxy({ ...log, upstreamBaseUrl, dataDir: before }, source);
    await proxy.client('app', 'read'); // The first record that a checkpoint seals.
    await proxy.startWorker();
    await eventually(() => existsSync(checkpointFile));
  });
  afterAll(async () => {
    await proxy.close();
    await source.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('is taken once by concurrent commands, and changes no other folder', async () => {
    const twice = join(dir, 'twice');
    mkdirSync(join(`${twice}.partial`, 'of-another'), { recursive: true });
    const ends = [`${twice}/`, twice].map((folder) => backUpTo(folder).exit);
    const [one, other] = (await Promise.all(ends)).sort((a, b) => Number(a.code) - Number(b.code));
    expect([one?.code, other?.code, other?.stderr]).toEqual([
      0,
      1,
      expect.stringContaining(`${twice} exists already`),
    ]);
    const inDir = readdirSync(dir).filter((name) => name.startsWith('twice'));
    expect([inDir, readdirSync(`${twice}.partial`)]).toEqual([['twice', 'twice.partial'], ['of-another']]);
  });

  it('leaves nothing behind if interrupted', async () => {
    await source.query('BEGIN');
    await source.query('LOCK TABLE upstream_wallet IN ACCESS EXCLUSIVE MODE');
    const command = backUpTo(join(dir, 'interrupted'));
    const partials = () => readdirSync(dir).filter((name) => name.startsWith('interrupted'));
    await eventually(() => existsSync(join(dir, partials()[0] ?? '', 'tables', 'client.copy.gz')));
    await command.signal('SIGINT');
    await source.query('ROLLBACK');
    expect(partials()).toEqual([]);
  });

  it('warns if it lacks the log key, or has a different one', async () => {
    const warningOf = async (name: string, more: Record<string, string>) => {
      const args = ['database', 'backup', join(dir, name), '--without-tables'];
      const { code, stderr } = await cli(args, { ...atSource(), ...more });
      expect(code).toBe(0);
      return stderr;
    };
    const elsewhere = { DATA_DIR: join(dir, 'nowhere') };
    expect(await warningOf('keyless', { ...elsewhere, LOG_SIGNING_KEY: '' })).toMatch(
      /^The backup has no key of the log\. /,
    );
    const other = { ...elsewhere, LOG_SIGNING_KEY: newSigningKey('other') };
    expect(await warningOf('other-key', other)).toMatch(/^The key in the backup is not the one that signed/);
  });
});
