import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { databaseCommands } from '../../src/cli/database/database';
import { loadConfig } from '../../src/platform/config/config';
import {
  migrate,
  migrateAtStart,
  PROXY_MIGRATIONS,
  SANDBOX_MIGRATIONS,
} from '../../src/platform/database/migrations/migrations';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { first } from '../support/examples/first';
import { FakeUpstream } from '../support/network/fake-upstream';
import { airtime, eventually, phones } from '../support/payments/paying';
import { cliOf } from '../support/processes/cli';
import { removeDataDir } from '../support/processes/data-dir';
import { envOf, newDataDir, Product } from '../support/processes/process';
import { startProxy, TestProxy } from '../support/processes/proxy';

const migrationsIn = (directory: string) =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
const NEWEST = migrationsIn(PROXY_MIGRATIONS).at(-1) ?? '';
const QUICK = { tries: 2, pauseMs: 10 };

/** Features of PostgreSQL 16, 17 and 18 that a migration might use. */
const NEWER_THAN_15 = [
  /CREATE [\w ]*TABLE [^;]*\bSTORAGE\b/i,
  /\b(any_value|array_sample|array_shuffle|random_normal|pg_input_is_valid|date_add|date_subtract)\s*\(/i,
  /\bjson_(table|query|value|exists|scalar|serialize)\s*\(/i,
  /\b(merge_action|to_bin|to_oct)\s*\(/i,
  /\b(uuidv7|uuidv4|array_sort|array_reverse|casefold|crc32|crc32c|gamma|lgamma)\s*\(/i,
  /\bNOT ENFORCED\b|\bWITHOUT OVERLAPS\b|\bVIRTUAL\b|\bRETURNING (OLD|NEW)\./i,
  /\bIS (NOT )?JSON\b/i,
];

describe('migrations', () => {
  it.each([PROXY_MIGRATIONS, SANDBOX_MIGRATIONS])('use only features of PostgreSQL 15 (%#)', (directory) => {
    const found = migrationsIn(directory).flatMap((name) => {
      const sql = readFileSync(join(directory, name, 'migration.sql'), 'utf8').replaceAll(/--.*$/gm, '');
      return NEWER_THAN_15.flatMap((pattern) => pattern.exec(sql)?.[0] ?? []);
    });
    expect(found).toEqual([]);
  });
});

describe('a change of the schema', () => {
  const directory = mkdtempSync(join(tmpdir(), 'payout-proxy-changes-'));
  let upstream: FakeUpstream;
  let database: TestDatabase;
  const add = (name: string, sql: string) => {
    mkdirSync(join(directory, name), { recursive: true });
    writeFileSync(join(directory, name, 'migration.sql'), sql);
  };

  beforeAll(async () => {
    cpSync(PROXY_MIGRATIONS, directory, { recursive: true });
    upstream = await FakeUpstream.start();
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    rmSync(directory, { recursive: true });
  });

  describe('during operation', () => {
    let proxy: TestProxy;
    let reader: Client;
    beforeAll(async () => {
      proxy = await startProxy({ upstreamBaseUrl: upstream.url }, database);
      reader = new Client({ connectionString: database.ownerUrl, application_name: 'monthly report' });
      await reader.connect();
    });
    afterAll(async () => {
      await reader.end();
      await proxy.close();
    });

    it('waits for no long query, names it, and lets payments pass', async () => {
      add('20990101000000_column', 'ALTER TABLE intent ADD COLUMN remark text;');
      const { key } = await proxy.client('payer', 'pay');
      await reader.query('BEGIN; SELECT FROM intent LIMIT 1');
      const pid = first((await reader.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows).pid;
      let isOver = false;
      const migrating = migrate(database.ownerUrl, directory, { retries: QUICK })
        .then(
          () => 'it was applied',
          (error: Error) => error.message,
        )
        .finally(() => (isOver = true));
      const waits = `SELECT FROM pg_locks WHERE relation = 'intent'::regclass AND mode = 'AccessExclusiveLock'
        AND NOT granted`;
      await eventually(async () => (await database.query(waits)).length > 0);
      expect(isOver).toBe(false);
      const statuses: number[] = [];
      for (const phone of phones(30)) {
        // queued behind the migration, and after it
        statuses.push((await proxy.post(key, '/payouts/airtime', airtime(phone))).status);
        if (isOver) break;
      }
      expect(new Set(statuses)).toEqual(new Set([200]));
      const message = await migrating;
      expect(message).toMatch(/^the migration 20990101000000_column did not get its locks in 2 tries/);
      expect(message).toContain(
        `blocked by process ${pid} of the database server (login payout_owner, monthly report, in a`,
      );
      expect(message).toContain(`SELECT pg_terminate_backend(${pid}), and try again.`);
    });

    it('is applied once the query has ended', async () => {
      await reader.query('COMMIT');
      expect(await migrate(database.ownerUrl, directory, { retries: QUICK })).toEqual([
        '20990101000000_column',
      ]);
      await database.query('ALTER TABLE intent DROP COLUMN remark');
    });
  });

  describe('unknown to a program', () => {
    const refusal =
      /^the database is newer than this program. It has the migration 20990101000000_column, and the last/;
    const start = () => migrateAtStart(database.ownerUrl, PROXY_MIGRATIONS, true);
    const declare = (oldest: string) =>
      database.query(
        `INSERT INTO migration_compatibility VALUES ('20990101000000_column', $1)
         ON CONFLICT (migration) DO UPDATE SET oldest_program = excluded.oldest_program`,
        [oldest],
      );

    it('prevents its start without a compatibility statement', async () => {
      await expect(start()).rejects.toThrow(refusal);
      await expect(start()).rejects.toThrow('Start a version that has the migration 20990101000000_column');
    });

    it('allows its start if the migration allows it', async () => {
      await declare(NEWEST);
      expect(await start()).toEqual([]);
    });

    it('prevents its start if the migration needs a newer program, which it names', async () => {
      await declare('20980101000000_expand');
      await expect(start()).rejects.toThrow('Start a version that has the migration 20980101000000_expand');
      jest.replaceProperty(process, 'env', {
        ...process.env,
        DATABASE_URL: database.url,
        DATABASE_OWNER_URL: database.ownerUrl,
      });
      await expect(cliOf(databaseCommands)('status')).rejects.toThrow(refusal);
      jest.restoreAllMocks();
      await database.query(`DELETE FROM migration_compatibility WHERE migration LIKE '2099%'`);
      await database.query(`DELETE FROM _prisma_migrations WHERE migration_name LIKE '2099%'`);
    });

    it('has a statement of compatibility for each migration', async () => {
      const rows = await database.query<{ migration: string }>(
        'SELECT migration FROM migration_compatibility',
      );
      expect(rows.map(({ migration }) => migration).sort()).toEqual(migrationsIn(PROXY_MIGRATIONS));
    });
  });

  describe('while pending', () => {
    const dataDir = newDataDir();
    afterAll(() => removeDataDir(dataDir));

    it.each(['main.js', 'worker/main.js'])(
      'is not applied by %s in production, which explains how to apply it',
      async (script) => {
        await database.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [
          NEWEST,
        ]);
        const { code, stderr } = await new Product(
          script,
          [],
          {
            ...envOf(database),
            NODE_ENV: 'production',
            DATA_DIR: dataDir,
            UPSTREAM_BASE_URL: upstream.url,
            UPSTREAM_API_KEY: 'the-key-of-nobody',
            PUBLIC_URL: 'https://proxy.example.com',
          },
          dataDir,
        ).exit;
        expect([code, stderr]).toEqual([
          1,
          expect.stringMatching(
            /^payout-proxy.*: the database is not up to date: 1 migration is pending. Run npm run .*\n$/,
          ),
        ]);
        await database.query('UPDATE _prisma_migrations SET finished_at = now() WHERE migration_name = $1', [
          NEWEST,
        ]);
      },
    );

    it('is applied by a start outside production, or with MIGRATE_ON_START', () => {
      const upstream = {
        UPSTREAM_BASE_URL: 'https://payouts.example.com',
        UPSTREAM_API_KEY: 'the-key-of-nobody',
        PUBLIC_URL: 'https://proxy.example.com',
      };
      const production = {
        ...upstream,
        NODE_ENV: 'production',
        DATABASE_URL: 'postgresql://nobody@127.0.0.1/x',
      };
      const may = (env: Record<string, string>) => loadConfig(env).migrateOnStart;
      expect([may({}), may({ MIGRATE_ON_START: 'false' })]).toEqual([true, false]);
      expect([may(production), may({ ...production, MIGRATE_ON_START: 'true' })]).toEqual([false, true]);
    });
  });
});
