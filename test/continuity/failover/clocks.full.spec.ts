import { uuidTime } from '../../../src/platform/database/uuid';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { FakeUpstream, reset, succeed } from '../../support/network/fake-upstream';
import { AIRTIME, eventually } from '../../support/payments/paying';
import { removeDataDir } from '../../support/processes/data-dir';
import { ask, createClient, Fleet } from '../../support/processes/fleet';
import { envOf, newDataDir, Product } from '../../support/processes/process';
import { UPSTREAM_KEY } from '../../support/processes/proxy';
import { WrongClock } from '../../support/processes/wrong-clock';
import { LOG_KEY } from '../../support/records/log-key';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Above the error of a corrected clock on a busy machine, and far below a day. */
const TOLERANCE_MS = 2_000;

/** The maximum of MAX_CLOCK_SKEW_SECONDS: these processes pay with any clock. */
const ANY_SKEW = { MAX_CLOCK_SKEW_SECONDS: '604800' };

describe('a process with a wrong clock', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let env: Record<string, string>;
  let dir: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    dir = newDataDir();
    env = { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEY: UPSTREAM_KEY, DUPLICATE_GUARD: 'false' };
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    removeDataDir(dir);
  });
  beforeEach(() => {
    upstream.received.length = 0;
    upstream.behaviour = succeed;
  });

  const databaseMs = async () => {
    const [row] = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return row?.now.getTime() ?? 0;
  };
  /** Expects that a time is the database's, between a moment and now. */
  const expectNow = async (time: unknown, since: number, laterMs = 0) => {
    const ms = new Date(time as string).getTime() - laterMs;
    expect(ms).toBeGreaterThan(since - TOLERANCE_MS);
    expect(ms).toBeLessThan((await databaseMs()) + TOLERANCE_MS);
  };
  const metric = async (url: string, name: string) => {
    const { text } = await supertest(url).get('/metrics').expect(200);
    return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const pay = (url: string, key: string) => ask(url, { key, body: AIRTIME });

  describe('within the allowed difference', () => {
    let clock: WrongClock;
    let workerClock: WrongClock;
    let fleet: Fleet;
    let worker: Product;
    let workerUrl: string;

    beforeAll(async () => {
      clock = new WrongClock(dir, 'proxy', DAY_MS);
      workerClock = new WrongClock(dir, 'worker', DAY_MS);
      const settings = { LOG_LEVEL: 'info', RESOLVER_EVERY_SECONDS: '1', LOG_SIGNING_KEY: LOG_KEY };
      const own = { ...envOf(database), ...env, ...ANY_SKEW, ...workerClock.env, ...settings };
      worker = new Product('worker/main.js', [], own, dir);
      const [started, [, url = '']] = await Promise.all([
        Fleet.start(1, database, { ...env, ...ANY_SKEW, ...clock.env }),
        worker.said(/"(http[^"]+)"[^\n]*"msg":"worker is ready"/),
      ]);
      fleet = started;
      workerUrl = url;
    });
    afterAll(async () => {
      await fleet.stop();
      await worker.signal('SIGKILL');
    });

    describe.each([
      ['ahead', DAY_MS],
      ['behind', -DAY_MS],
    ])('by a day, %s', (name, shiftMs) => {
      let since: number;
      beforeAll(async () => {
        await clock.set(shiftMs, (signal) => fleet.signal(0, signal));
        await workerClock.set(-shiftMs, (signal) => process.kill(worker.pid, signal));
      });
      beforeEach(async () => (since = await databaseMs()));

      it('takes IDs and times from the database clock', async () => {
        const { key } = await createClient(database, `ids-${name}`, ['pay']);
        const told = await pay(fleet.url(0), key);
        expect(told.status).toBe(200);
        const id = told.headers.get('x-call-id') ?? '';
        await expectNow(uuidTime(id), since);
        const [row] = await database.query(
          `SELECT i.record::json ->> 'received_at' AS received_at, sent_at, answered_at,
            reserved_on = (clock_timestamp() AT TIME ZONE 'UTC')::date AS is_today
           FROM intent i JOIN outcome o ON o.intent_id = i.id WHERE i.id = $1`,
          [id],
        );
        for (const column of ['received_at', 'sent_at', 'answered_at']) await expectNow(row?.[column], since);
        expect(row?.is_today).toBe(true);
      });

      it('counts against the caps of the database day', async () => {
        const { id, key } = await createClient(database, `cap-${name}`, ['pay'], { daily_cap_usd: '3' });
        const statuses = [(await pay(fleet.url(0), key)).status, (await pay(fleet.url(0), key)).status];
        expect(statuses).toEqual([200, 403]);
        const days = `SELECT usd::float, day = (clock_timestamp() AT TIME ZONE 'UTC')::date AS is_today
          FROM spending WHERE client_id = $1`;
        expect(await database.query(days, [id])).toEqual([{ usd: 2.5, is_today: true }]);
      });

      it('keeps held calls approvable for the usual time', async () => {
        const { id: clientId, key } = await createClient(database, `held-${name}`, ['pay']);
        await database.query('UPDATE client SET approval_over_usd = 1 WHERE id = $1', [clientId]);
        const approver = await createClient(database, `approver-${name}`, ['approve', 'audit']);
        const id = (await pay(fleet.url(0), key)).headers.get('x-call-id') ?? '';
        const [row] = await database.query('SELECT expires_at FROM intent WHERE id = $1', [id]);
        await expectNow(row?.expires_at, since, DAY_MS); // APPROVAL_EXPIRES_AFTER_SECONDS
        const { body } = await supertest(fleet.url(0))
          .post(`/v1/approvals/${id}/approve`)
          .set('X-API-Key', approver.key)
          .send({ reason: 'agreed' })
          .expect(200);
        expect(body.outcome).toBe('succeeded');
      });

      it('keeps a session', async () => {
        const { key } = await createClient(database, `session-${name}`, ['admin']);
        const signingIn = supertest(fleet.url(0)).post('/v1/session').set('X-API-Key', key);
        const { headers } = await signingIn.expect(200);
        const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
        await supertest(fleet.url(0)).get('/v1/session').set('Cookie', cookie).expect(200);
        const sessions = 'SELECT created_at, used_at FROM console_session ORDER BY created_at DESC';
        const [row] = await database.query(sessions);
        for (const column of ['created_at', 'used_at']) await expectNow(row?.[column], since);
      });

      it('checks the expiry of a key by the database clock', async () => {
        const { key } = await createClient(database, `keys-${name}`, ['admin']);
        const issue = (atMs: number) =>
          supertest(fleet.url(0))
            .post(`/v1/clients/keys-${name}/keys`)
            .set('X-API-Key', key)
            .send({ expires_at: new Date(atMs).toISOString() });
        await issue(since - HOUR_MS).expect(400);
        const { body } = await issue(since + HOUR_MS).expect(201);
        const { body: list } = await supertest(fleet.url(0))
          .get(`/v1/clients/keys-${name}/keys`)
          .set('X-API-Key', key)
          .expect(200);
        expect(list.keys.find(({ id }) => id === body.id)).toMatchObject({ state: 'active' });
        await supertest(fleet.url(0)).get('/v1/clients').set('X-API-Key', body.key).expect(200);
        const [row] = await database.query('SELECT created_at FROM api_key WHERE id = $1', [body.id]);
        await expectNow(row?.created_at, since);
      });

      it('measures the age of a call in doubt by the database clock', async () => {
        upstream.behaviour = reset;
        const { key } = await createClient(database, `doubt-${name}`, ['pay']);
        const young = 'payout_proxy_calls_in_doubt{age="under_an_hour"}';
        const before = (await metric(workerUrl, young)) || 0;
        expect((await pay(fleet.url(0), key)).json.code).toBe('outcome_unknown');
        await eventually(async () => (await metric(workerUrl, young)) === before + 1);
        expect(await metric(workerUrl, 'payout_proxy_calls_in_doubt{age="a_day_or_more"}')).toBe(0);
      });

      it('reports the difference in a metric', async () => {
        const seconds = await metric(fleet.url(0), 'payout_proxy_clock_skew_seconds');
        expect(Math.abs(seconds * 1_000 + shiftMs)).toBeLessThan(TOLERANCE_MS);
        const workers = await metric(workerUrl, 'payout_proxy_clock_skew_seconds');
        expect(Math.abs(workers * 1_000 - shiftMs)).toBeLessThan(TOLERANCE_MS); // set the other way
      });
    });

    it('gives commands the database time', async () => {
      const own = new WrongClock(dir, 'command', DAY_MS);
      const since = await databaseMs();
      const environment = { ...envOf(database), DATA_DIR: dir, ...own.env };
      const command = (args: string) =>
        new Product('cli/main.js', [...args.split(' '), '--json'], environment, dir).exit;
      const created = await command('clients create --name by-command --scopes read');
      const { id } = JSON.parse(created.stdout) as { id: string };
      await expectNow(uuidTime(id), since);
      const expires = new Date(since + HOUR_MS).toISOString();
      expect((await command(`keys issue --client by-command --expires ${expires}`)).code).toBe(0);
    });

    it('creates increasing IDs while its clock is set back', async () => {
      const { key } = await createClient(database, 'growing', ['pay']);
      const ids: string[] = [];
      for (const shiftMs of [DAY_MS, 0, -DAY_MS, 0]) {
        await clock.set(shiftMs, (signal) => fleet.signal(0, signal));
        ids.push((await pay(fleet.url(0), key)).headers.get('x-call-id') ?? '');
      }
      expect(ids).toEqual([...ids].sort());
    });
  });

  describe('beyond the allowed difference', () => {
    let clock: WrongClock;
    let fleet: Fleet;
    let key: string;
    const refused = async () => {
      const { status, json } = await pay(fleet.url(0), key);
      return status === 503 && json.code === 'instance_fenced';
    };

    beforeAll(async () => {
      clock = new WrongClock(dir, 'fenced', -DAY_MS);
      ({ key } = await createClient(database, 'fenced', ['pay']));
      fleet = await Fleet.start(1, database, { ...env, ...clock.env });
    });
    afterAll(() => fleet.stop());

    it('starts, and refuses to pay from the first request', async () => {
      expect(await refused()).toBe(true);
      expect(upstream.received).toHaveLength(0);
      const { body } = await supertest(fleet.url(0)).get('/readyz').expect(503);
      expect((body as { detail: string }).detail).toMatch(
        /clock_skewed: .* 86400 s behind the database's\. At most 10 s are allowed \(MAX_CLOCK_SKEW_SECONDS/,
      );
      expect(await metric(fleet.url(0), 'payout_proxy_fenced{reason="clock_skewed"}')).toBe(1);
    });

    it('pays once the clock is right, and stops once it is wrong again', async () => {
      await clock.set(0, (signal) => fleet.signal(0, signal));
      await eventually(async () => !(await refused()));
      await clock.set(DAY_MS, (signal) => fleet.signal(0, signal));
      const since = await databaseMs();
      await eventually(refused); // with the next durable write, which is made every second
      const paid = await database.query<{ id: string }>(
        'SELECT intent_id AS id FROM outcome WHERE sent_at > $1',
        [new Date(since + TOLERANCE_MS)],
      );
      expect(paid).toEqual([]); // what was paid before that has the right times
      const { body } = await supertest(fleet.url(0)).get('/readyz').expect(503);
      expect((body as { detail: string }).detail).toContain("86400 s ahead of the database's");
    });
  });
});
