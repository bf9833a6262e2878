import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopCommands } from '../../src/cli/calls/stop';
import { clientsCommands } from '../../src/cli/clients/clients';
import { databaseCommands } from '../../src/cli/database/database';
import {
  migrate,
  migrationStatus,
  PROXY_MIGRATIONS,
} from '../../src/platform/database/migrations/migrations';
import { PrismaService } from '../../src/platform/database/pools/prisma.service';
import { withConnection } from '../../src/platform/database/servers/database-client';
import { createTestDatabase, TestDatabase, withDatabase } from '../support/databases/test-database';
import { FakeUpstream } from '../support/network/fake-upstream';
import { airtime, eventually, phones } from '../support/payments/paying';
import { cliOf } from '../support/processes/cli';
import { startProxy } from '../support/processes/proxy';

describe('migrations', () => {
  let admin: TestDatabase;
  let url: string;
  const directory = mkdtempSync(join(tmpdir(), 'payout-proxy-migrations-'));
  const released = readdirSync(PROXY_MIGRATIONS)
    .filter((name) => statSync(join(PROXY_MIGRATIONS, name)).isDirectory())
    .sort();
  const pending = released.length === 1 ? '1 migration is' : `${released.length} migrations are`;
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

  it('are applied only by database migrate, which can list them first', async () => {
    await admin.query('CREATE DATABASE behind_spec');
    const behind = withDatabase(admin.ownerUrl, 'behind_spec');
    jest.replaceProperty(process, 'env', { ...process.env, DATABASE_URL: behind });
    const database = cliOf(databaseCommands);
    for (const command of [
      cliOf(clientsCommands)('list'),
      cliOf(stopCommands)('everything', '--reason', 'x'),
    ]) {
      await expect(command).rejects.toThrow(
        `The database is not up to date: ${pending} pending. Run npm run cli -- database migrate`,
      );
    }
    const { stdout, exitCode } = await database('migrate', '--dry-run', '--json');
    expect([JSON.parse(stdout), exitCode]).toEqual([{ pending: released }, 1]);
    expect(JSON.parse((await database('migrate', '--json')).stdout)).toEqual({ applied: released });
    expect(await database('migrate', '--dry-run')).toEqual({
      stdout: 'No migrations are pending.\n',
      exitCode: undefined,
    });
    expect(JSON.parse((await cliOf(clientsCommands)('list', '--json')).stdout)).toEqual([]);
    jest.restoreAllMocks();
    await admin.query('DROP DATABASE behind_spec WITH (FORCE)');
  });

  it('create no embedded database for a read-only command', async () => {
    const dataDir = join(directory, 'no-data');
    jest.replaceProperty(process, 'env', {
      ...process.env,
      DATABASE_URL: '',
      DATABASE_OWNER_URL: '',
      DATA_DIR: dataDir,
    });
    const commands = [cliOf(clientsCommands)('list'), cliOf(databaseCommands)('migrate', '--dry-run')];
    for (const command of commands)
      await expect(command).rejects.toThrow(`There is no database in ${dataDir} yet`);
    expect(existsSync(dataDir)).toBe(false);
    jest.restoreAllMocks();
  });

  it('are applied completely or not at all', async () => {
    add('20990101000000_broken', 'CREATE TABLE half (id int); SELECT no_such_function();');
    await expect(migrate(url, directory)).rejects.toThrow('migration 20990101000000_broken failed');
    const states = await migrationStatus(url, directory);
    expect(states.map(({ name, appliedAt }) => [name, appliedAt !== null])).toEqual([
      ...released.map((name) => [name, true]),
      ['20990101000000_broken', false],
    ]);
    // succeeds: the first try left no table behind
    add('20990101000000_broken', 'CREATE TABLE half (id int);');
    expect(await migrate(url, directory)).toEqual(['20990101000000_broken']);
  });

  it('are refused by name in a schema other than public, even first in the search path', async () => {
    await admin.query('CREATE DATABASE schema_spec');
    const elsewhere = withDatabase(admin.ownerUrl, 'schema_spec');
    await withConnection(elsewhere, (client) => client.query('CREATE SCHEMA payout_owner'));
    const refusal =
      /^the login payout_owner works in the schema payout_owner, .*\n(ALTER ROLE .* schema_spec .*)$/;
    const refused = await migrate(elsewhere, PROXY_MIGRATIONS).catch((error: Error) => error.message);
    const [, statement = ''] = refusal.exec(String(refused)) ?? [];
    await withConnection(elsewhere, (client) => client.query(statement));
    expect(await migrate(elsewhere, PROXY_MIGRATIONS)).toEqual(released);
    await admin.query('DROP DATABASE schema_spec WITH (FORCE)');
  });

  it('are reported by name after a lost connection, and the process continues', async () => {
    add('20990102000000_cut', 'SELECT pg_terminate_backend(pg_backend_pid());');
    await expect(migrate(url, directory)).rejects.toThrow('migration 20990102000000_cut failed');
    rmSync(join(directory, '20990102000000_cut'), { recursive: true });
  });

  it('are rejected if an applied one was edited', async () => {
    add('20990101000000_broken', 'CREATE TABLE half (id bigint);');
    await expect(migrate(url, directory)).rejects.toThrow('was edited after it was applied');
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

  it('take the insert-only role, given only the URL of the owner', async () => {
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

  it('serve payouts while readers hold all of theirs', async () => {
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url }, database);
    const app = await proxy.client('payer', 'pay');
    const readers = await Promise.all(
      Array.from({ length: 24 }, (_, at) => proxy.client(`reader-${at}`, 'audit')),
    );
    // else they would wait for each other, to index what came before
    await proxy.get(readers[0]!.key, '/v1/audit/calls').expect(200);
    await database.query('BEGIN');
    await database.query('LOCK TABLE search_entry IN ACCESS EXCLUSIVE MODE');
    const reads = [
      ...Array<string>(16).fill('/v1/audit/summary'),
      ...Array<string>(4).fill('/v1/audit/calls'),
      ...Array<string>(4).fill('/v1/overview'),
    ];
    let ended = 0;
    const reading = reads.map((path, at) =>
      proxy.get(readers[at]!.key, path).then(({ status }) => {
        ended += 1;
        return status;
      }),
    );
    try {
      const waiting = `SELECT FROM pg_locks WHERE relation = 'search_entry'::regclass AND NOT granted`;
      // the others wait for their turns
      await eventually(async () => (await database.query(waiting)).length > 0);
      const payouts = await Promise.all(
        phones(20).map((phone) => proxy.post(app.key, '/payouts/airtime', airtime(phone))),
      );
      expect([payouts.map(({ status }) => status), ended]).toEqual([payouts.map(() => 200), 0]);
    } finally {
      await database.query('ROLLBACK');
    }
    expect(await Promise.all(reading)).toEqual(reads.map(() => 200));
    await proxy.close();
  });
});
