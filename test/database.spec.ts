import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PrismaService } from '../src/database/prisma.service';
import { migrate, migrationStatus, PROXY_MIGRATIONS } from '../src/database/migrations';
import { FakeUpstream } from './support/fake-upstream';
import { startProxy } from './support/proxy';
import { createTestDatabase, TestDatabase, withDatabase } from './support/test-database';

describe('migrations', () => {
  let admin: TestDatabase;
  let url: string;
  const directory = mkdtempSync(join(tmpdir(), 'payout-proxy-migrations-'));
  const released = readdirSync(PROXY_MIGRATIONS)
    .filter((name) => statSync(join(PROXY_MIGRATIONS, name)).isDirectory())
    .sort();
  const add = (name: string, sql: string) => {
    mkdirSync(join(directory, name), { recursive: true });
    writeFileSync(join(directory, name, 'migration.sql'), sql);
  };

  beforeAll(async () => {
    admin = await createTestDatabase();
    await admin.query('CREATE DATABASE migrations_spec');
    url = withDatabase(admin.ownerUrl, 'migrations_spec');
    cpSync(PROXY_MIGRATIONS, directory, { recursive: true });
  });
  afterAll(async () => {
    await admin.query('DROP DATABASE migrations_spec WITH (FORCE)');
    await admin.close();
    rmSync(directory, { recursive: true });
  });

  it('are applied once by instances that start together', async () => {
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(url, directory)));
    expect(applied.flat()).toEqual(released);
  });

  it('are applied whole or not at all', async () => {
    add('20990101000000_broken', 'CREATE TABLE half (id int); SELECT no_such_function();');
    await expect(migrate(url, directory)).rejects.toThrow('migration 20990101000000_broken failed');
    const states = await migrationStatus(url, directory);
    expect(states.map(({ name, appliedAt }) => [name, appliedAt !== null])).toEqual([
      ...released.map((name) => [name, true]),
      ['20990101000000_broken', false],
    ]);
    add('20990101000000_broken', 'CREATE TABLE half (id int);'); // succeeds: the first try left no table behind
    expect(await migrate(url, directory)).toEqual(['20990101000000_broken']);
  });

  it('say which one lost its connection, and the process lives on', async () => {
    add('20990102000000_cut', 'SELECT pg_terminate_backend(pg_backend_pid());');
    await expect(migrate(url, directory)).rejects.toThrow('migration 20990102000000_cut failed');
    rmSync(join(directory, '20990102000000_cut'), { recursive: true });
  });

  it('are refused when one was edited after it had been applied', async () => {
    add('20990101000000_broken', 'CREATE TABLE half (id bigint);');
    await expect(migrate(url, directory)).rejects.toThrow('was edited after it had been applied');
  });
});

describe("the proxy's connections", () => {
  let upstream: FakeUpstream;
  let database: TestDatabase;
  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
  });

  it("step down to the role that only adds records when they are given the owner's address alone", async () => {
    const settings = {
      upstreamBaseUrl: upstream.url,
      databaseUrl: database.ownerUrl,
      databaseOwnerUrl: database.ownerUrl,
    };
    const proxy = await startProxy(settings, database);
    const prisma = proxy.app.get(PrismaService);
    expect(await prisma.$queryRaw`SELECT current_user::text AS role`).toEqual([{ role: 'payout_proxy' }]);
    await expect(prisma.$executeRaw`DELETE FROM intent`).rejects.toThrow('permission denied');
    const { key } = await proxy.client('app', 'read', 'account');
    await proxy.get(key, '/api/v0.1/wallets/list').expect(200);
    await proxy.close();
  });
});
