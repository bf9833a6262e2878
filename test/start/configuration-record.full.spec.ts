import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { ringOf, signerOf } from '../../src/history/log/note';
import { verifyLog } from '../../src/history/log/verify/verify';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import type { ActivityRecord } from '../support/http/api';
import { eventually } from '../support/payments/paying';
import { envOf, Product } from '../support/processes/process';
import { startProxy, TestProxy } from '../support/processes/proxy';
import { LOG_KEY } from '../support/records/log-key';

const FIRST_KEY = 'upstream-key-that-was-first';
const SECOND_KEY = 'upstream-key-that-was-second';
const FINGERPRINT = expect.stringMatching(/^SHA-256 [0-9a-f]{8}…$/) as string;

/** Runs the product in separate processes, on one database. */
describe('the configuration of each start', () => {
  const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-configuration-'));
  let database: TestDatabase;
  let proxy: TestProxy;
  let auditor: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' }, database);
    ({ key: auditor } = await proxy.client('auditor', 'audit'));
  });
  afterAll(async () => {
    await proxy.close();
    await database.close();
    rmSync(dir, { recursive: true });
  });

  const launch = (script: string, more: Record<string, string>, instance: string) => {
    const upstream = {
      UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
      UPSTREAM_API_KEY: FIRST_KEY,
      LOG_SIGNING_KEY: LOG_KEY,
    };
    const own = { DATA_DIR: join(dir, instance), RESOLVER_PROBE_EMAIL: 'ada.lovelace@example.com' };
    return new Product(script, [], { ...envOf(database), ...upstream, ...own, ...more }, dir);
  };
  const start = async (more: Record<string, string> = {}, instance = 'one') => {
    const product = launch('main.js', more, instance);
    await product.said(/payout-proxy is ready/);
    return product.signal('SIGTERM');
  };
  const acts = async (): Promise<ActivityRecord[]> =>
    (await proxy.get(auditor, '/v1/activity?action=configuration_changed').expect(200)).body.activity;
  const newest = async () => (await acts())[0];

  it('is recorded once at the first start, by one of several instances', async () => {
    await Promise.all([start({}, 'one'), start({}, 'two')]);
    const [first, ...others] = await acts();
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      via: 'start',
      before: null,
      by: { client: null, key_id: null, actor: null },
    });
    expect(first?.after).toMatchObject({
      process: 'proxy',
      configuration: {
        NODE_ENV: 'development',
        UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
        UPSTREAM_API_KEY: FINGERPRINT,
        DUPLICATE_WINDOW_SECONDS: '30',
        RESOLVER_PROBE_EMAIL: expect.stringMatching(/^a•+@example\.com$/),
      },
    });
    const names = Object.keys(first?.after?.configuration ?? {});
    expect(
      names.filter((name) => /^(PATH|PORT|HOST|DATA_DIR|LOG_LEVEL|DATABASE_URL|SANDBOX_.*)$/.test(name)),
    ).toEqual([]);
  });

  it('is recorded again for changes only', async () => {
    await start({ PORT: '0', LOG_LEVEL: 'error' }, 'three');
    expect(await acts()).toHaveLength(1);
    const changed = { UPSTREAM_API_KEY: SECOND_KEY, DUPLICATE_WINDOW_SECONDS: '0', MAX_ITEMS: '7' };
    await start(changed);
    const was = { UPSTREAM_API_KEY: FINGERPRINT, DUPLICATE_WINDOW_SECONDS: '30', MAX_ITEMS: '1000' };
    const is = { UPSTREAM_API_KEY: FINGERPRINT, DUPLICATE_WINDOW_SECONDS: '0', MAX_ITEMS: '7' };
    const act = await newest();
    expect(act?.before).toEqual({ process: 'proxy', configuration: was });
    expect(act?.after).toEqual({ process: 'proxy', configuration: is });
    expect(act?.before?.configuration?.UPSTREAM_API_KEY).not.toBe(
      act?.after?.configuration?.UPSTREAM_API_KEY,
    );
    await start(changed);
    expect(await acts()).toHaveLength(2);
    await start({
      ...changed,
      MAX_ITEMS: '1000',
      SCREENING_URL: 'http://127.0.0.1:2',
      SCREENING_SECRET: SECOND_KEY,
    });
    await start({ ...changed, MAX_ITEMS: '1000' });
    const [removed, added] = await acts();
    expect(added?.before?.configuration).toEqual({
      MAX_ITEMS: '7',
      SCREENING_URL: null,
      SCREENING_SECRET: null,
    });
    expect(removed?.after?.configuration).toEqual({ SCREENING_URL: null, SCREENING_SECRET: null });
    expect(await acts()).toHaveLength(4);
  });

  it('is recorded once by standalone workers, compared with earlier workers', async () => {
    for (const expected of [5, 5]) {
      const worker = launch('worker/main.js', { LOG_LEVEL: 'info' }, 'worker');
      await worker.said(/worker is ready/);
      await worker.signal('SIGTERM');
      expect(await acts()).toHaveLength(expected);
    }
    expect(await newest()).toMatchObject({ before: null, after: { process: 'worker' } });
  });

  it('does not block a start if it cannot be recorded, and is recorded by the next start', async () => {
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`,
    );
    await database.query(
      'CREATE TRIGGER refuse BEFORE INSERT ON activity FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    const { code, stdout } = await start({ MAX_ITEMS: '8' });
    expect([code, (await acts()).length]).toEqual([0, 5]);
    expect(stdout).toContain('configuration not recorded');
    await database.query('DROP TRIGGER refuse ON activity');
    await start({ MAX_ITEMS: '8' });
    expect((await newest())?.after?.configuration).toMatchObject({ MAX_ITEMS: '8' });
  });

  it('has no secret in clear, and is sealed in the log', async () => {
    const [dump] = await database.query<{ all: string }>('SELECT json_agg(a)::text AS all FROM activity a');
    for (const secret of [FIRST_KEY, SECOND_KEY, LOG_KEY, 'lovelace', 'key-of-kenya'])
      expect(dump?.all).not.toContain(secret);
    await proxy.startWorker();
    const verify = async () => {
      const client = new Client({ connectionString: database.ownerUrl });
      await client.connect();
      try {
        await client.query('BEGIN');
        return await verifyLog([client], { ring: ringOf([signerOf(LOG_KEY)]), notes: [] });
      } finally {
        await client.end();
      }
    };
    await eventually(async () => (await verify()).unsealed.count === 0);
    expect((await verify()).ok).toBe(true);
  });

  it('is recorded again after the key of an account is replaced in its file', async () => {
    const file = join(dir, 'key-of-kenya');
    writeFileSync(file, 'first-key-of-kenya');
    const product = launch(
      'main.js',
      { UPSTREAM_ACCOUNTS: 'kenya', UPSTREAM_ACCOUNT_KENYA_API_KEY_FILE: file },
      'kenya',
    );
    await product.said(/payout-proxy is ready/);
    const before = (await newest())?.after?.configuration?.UPSTREAM_ACCOUNT_KENYA_API_KEY;
    expect(before).toEqual(FINGERPRINT);
    writeFileSync(file, 'second-key-of-kenya');
    await eventually(async () => (await newest())?.via === 'proxy');
    const act = await newest();
    expect(act?.before).toEqual({
      process: 'proxy',
      configuration: { UPSTREAM_ACCOUNT_KENYA_API_KEY: before },
    });
    expect(act?.after?.configuration?.UPSTREAM_ACCOUNT_KENYA_API_KEY).not.toBe(before);
    await product.signal('SIGTERM');
  });
});
