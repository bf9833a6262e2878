import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Manifest } from '../../../src/continuity/backup/manifest';
import { newSigningKey } from '../../../src/history/log/note';
import { withConnection } from '../../../src/platform/database/servers/database-client';
import { createTestDatabase, TestDatabase, withDatabase } from '../../support/databases/test-database';
import { runCli } from '../../support/processes/cli';

describe('a backup of a database with foreign objects', () => {
  let source: TestDatabase;
  let target: string;
  let backUpAs: (address: string, folder: string) => Promise<Manifest>;
  const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-rows-'));
  const backup = join(dir, 'backup');
  const restore = (dataDir: string, address = target) => {
    const env = { DATABASE_URL: address, DATABASE_OWNER_URL: address, DATA_DIR: dataDir };
    return runCli(['database', 'restore', backup, '--yes'], env, dir);
  };
  const clients = () =>
    withConnection(
      target,
      async (client) => (await client.query('SELECT name FROM client')).rows as object[],
    );

  beforeAll(async () => {
    source = await createTestDatabase();
    const key = newSigningKey('rows');
    const env = { DATABASE_URL: source.ownerUrl, DATA_DIR: dir, LOG_SIGNING_KEY: key, DUAL_CONTROL: 'false' };
    backUpAs = async (address, folder) => {
      await runCli(
        ['database', 'backup', join(dir, folder)],
        { ...env, DATABASE_URL: address, DATABASE_OWNER_URL: '' },
        dir,
      );
      return JSON.parse(readFileSync(join(dir, folder, 'backup.json'), 'utf8')) as Manifest;
    };
    await runCli(['clients', 'create', '--name', 'app', '--scopes', 'read'], env, dir);
    await source.query('CREATE TABLE of_another_program (id serial, parent integer) PARTITION BY RANGE (id)');
    await source.query('CREATE TABLE its_part PARTITION OF of_another_program FOR VALUES FROM (0) TO (9)');
    await source.query('INSERT INTO of_another_program VALUES (DEFAULT, 1)');
    expect(await runCli(['database', 'backup', backup], env, dir)).toMatchObject({ code: 0 });
    await source.query('CREATE DATABASE restored_rows_spec');
    target = withDatabase(source.ownerUrl, 'restored_rows_spec');
  });
  afterAll(async () => {
    await source.query('DROP DATABASE restored_rows_spec WITH (FORCE)');
    await source.close();
    rmSync(dir, { recursive: true });
  });

  it('has all tables of the proxy and no foreign ones if taken by the login of the proxy', async () => {
    const names = async (address: string, folder: string) =>
      (await backUpAs(address, folder)).tables.map(({ name }) => name);
    const all = await names(source.ownerUrl, 'all');
    expect(await names(source.url, 'readable')).toEqual(all.filter((name) => name !== 'of_another_program'));
  });

  it('is not restored where the log key cannot be stored, and can be restored afterwards', async () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await restore(file);
    expect([code, stderr]).toEqual([1, expect.stringContaining('key of the log cannot be stored')]);
    expect(await clients()).toEqual([]);
  });

  it('is not restored by a login that does not own the tables', async () => {
    const { code, stderr } = await restore(join(dir, 'data'), withDatabase(source.url, 'restored_rows_spec'));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^the tables of the database belong to \w+, and the owner's/),
    ]);
  });

  it('restores the records without foreign rows', async () => {
    const dataDir = join(dir, 'data');
    expect(await restore(dataDir)).toMatchObject({ code: 0, stderr: '' });
    expect([await clients(), readdirSync(dataDir)]).toEqual([[{ name: 'app' }], ['log-key.json']]);
  });
});
