import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { Gate } from '../../support/payments/gate';
import { eventually } from '../../support/payments/paying';
import { ask, createClient, Fleet } from '../../support/processes/fleet';
import { airtime, API_KEY, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

/** The database is gone when the upstream answers, and the proxy is killed meanwhile. */
describe.each(['durable', 'relaxed'])(
  'an outcome that could not be recorded, with OUTCOMES=%s',
  (OUTCOMES) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-spooled-'));
    const folder = join(dataDir, 'outcomes');
    const files = () =>
      existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
    let database: TestDatabase;
    let sandbox: TestSandbox;
    let upstream: Gate;
    let postgres: Gate;
    let fleet: Fleet;

    beforeAll(async () => {
      database = await createTestDatabase();
      sandbox = await startSandbox({}, database);
      upstream = await Gate.start(() => sandbox.url);
      postgres = await Gate.start(() => database.url);
      fleet = await Fleet.start(1, database, {
        DATABASE_URL: Object.assign(new URL(database.url), { port: new URL(postgres.url).port }).toString(),
        UPSTREAM_BASE_URL: upstream.url,
        UPSTREAM_API_KEY: API_KEY,
        DATA_DIR: dataDir,
        OUTCOMES,
      });
    });
    afterAll(async () => {
      await fleet?.stop();
      for (const gate of [upstream, postgres]) await gate?.stop();
      await sandbox?.close();
      await database?.close();
      rmSync(dataDir, { recursive: true, force: true });
    });

    it('is recorded once with its IDs after the next start', async () => {
      const { key } = await createClient(database, 'app', ['pay', 'read']);
      const asking = { key, body: airtime(1.25, '+254712345678'), idempotencyKey: 'order-1' };
      upstream.hold('answers');
      const lost = ask(fleet.url(0), asking).catch(() => undefined);
      await upstream.held('answers');
      await postgres.refuse();
      upstream.open();
      await eventually(() => Promise.resolve(files().length === 1));
      await fleet.kill(0);
      await lost;
      expect(await database.query('SELECT FROM outcome')).toEqual([]);

      await postgres.accept();
      await fleet.restart(0);
      await eventually(async () => (await database.query('SELECT FROM outcome')).length === 1);
      await eventually(() => Promise.resolve(files().length === 0));
      const rows = await database.query(
        'SELECT o.kind, x.upstream_ref, x.position FROM outcome o JOIN outcome_item x USING (intent_id)',
      );
      expect(rows).toEqual([
        { kind: 'succeeded', upstream_ref: expect.stringMatching(/^[0-9a-f-]{36}$/), position: 0 },
      ]);
      const replay = await ask(fleet.url(0), asking);
      expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
      expect(JSON.stringify(replay.json)).toContain(String(rows[0]?.upstream_ref));
      expect((await sandbox.requests()).filter(({ processed }) => processed)).toHaveLength(1);
    });
  },
);
