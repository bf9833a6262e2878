import { ask, Asking, askUntilSettled, createClient, Fleet, Told } from './support/fleet';
import { Gate } from './support/gate';
import { eventually } from './support/paying';
import { airtime, API_KEY, startSandbox, TestSandbox } from './support/sandbox';
import { createTestDatabase, TestDatabase } from './support/test-database';

const AMOUNT = 1.25;

interface App {
  /** Of its client. */
  id: string;
  asking: Asking;
  /** Which proxy it talks to. */
  proxy: number;
}

/**
 * The proxy is killed at each point of a payout's way. Two apps ask at once: one with an Idempotency-Key, one without. The
 * proxy is started again, and both ask again.
 */
describe('a payout whose proxy is killed', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let upstream: Gate;
  let postgres: Gate;
  let fleet: Fleet;
  let auditor: string;
  let door: Gate;

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({}, database);
    upstream = await Gate.start(() => sandbox.url);
    postgres = await Gate.start(() => database.url);
    const throughGate = Object.assign(new URL(database.url), { port: new URL(postgres.url).port }).toString();
    fleet = await Fleet.start(2, database, {
      DATABASE_URL: throughGate,
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEY: API_KEY,
      DUPLICATE_WINDOW_SECONDS: '86400', // however long the test takes
    });
    door = await Gate.start(() => fleet.url(0));
    auditor = (await createClient(database, 'auditor', ['audit'])).key;
  });
  afterAll(async () => {
    await fleet?.stop();
    for (const gate of [door, upstream, postgres]) await gate?.stop();
    await sandbox?.close();
    await database?.close();
  });

  let apps: App[];
  let items = 1;
  beforeEach(async () => {
    apps = [await newApp('keyed'), await newApp('bare')];
  });

  let names = 0;
  async function newApp(kind: 'keyed' | 'bare'): Promise<App> {
    names += 1;
    const phone = `+2547000${String(names).padStart(5, '0')}`;
    const { id, key } = await createClient(database, `${kind}-${names}`, ['pay'], { daily_cap_usd: '1000' });
    const body = { airtimes: Array.from({ length: items }, () => airtime(AMOUNT, phone).airtimes[0]) };
    const idempotencyKey = kind === 'keyed' ? 'order-1' : undefined;
    return { id, proxy: 0, asking: { key, body, idempotencyKey } };
  }

  /** Gives each app a proxy of its own: in one proxy the second would wait for the first one's commit. */
  const separate = () => apps.forEach((app, index) => (app.proxy = index));
  const proxies = () => [...new Set(apps.map(({ proxy }) => proxy))];
  const urlOf = ({ proxy }: App) => (proxy === 0 ? door.url : fleet.url(proxy));

  const askAll = () => Promise.allSettled(apps.map((app) => ask(urlOf(app), app.asking)));

  /** Kills the proxies before they have told the apps anything. */
  async function killAll(asked: ReturnType<typeof askAll>): Promise<void> {
    await Promise.all(proxies().map((proxy) => fleet.kill(proxy)));
    for (const gate of [upstream, postgres, door]) {
      gate.cut();
      gate.open();
    }
    expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  }

  async function retryAll(): Promise<Told[]> {
    await Promise.all(proxies().map((proxy) => fleet.restart(proxy)));
    return Promise.all(apps.map((app) => askUntilSettled(() => urlOf(app), app.asking)));
  }

  /** How often the sandbox was asked, and carried it out. */
  async function executions({ asking }: App): Promise<{ asked: number; executed: number }> {
    const words = JSON.stringify((asking.body as ReturnType<typeof airtime>).airtimes[0]?.phoneNumber);
    const found = (await sandbox.requests()).filter(({ body }) => JSON.stringify(body)?.includes(words));
    return { asked: found.length, executed: found.filter(({ processed }) => processed).length };
  }

  const spent = async ({ id }: App) =>
    (await database.query('SELECT coalesce(sum(usd), 0)::float8 AS usd FROM spending WHERE client_id = $1', [id]))[0]
      ?.usd;

  async function inDoubt(): Promise<string[]> {
    const page = `${fleet.url(0)}/v1/audit/calls?outcome=unknown&page_size=200`;
    const answer = await fetch(page, { headers: { 'X-API-Key': auditor } });
    const { calls } = (await answer.json()) as { calls: { id: string }[] };
    return calls.map(({ id }) => id);
  }

  /** Of each app, the only call there may be. */
  async function calls(): Promise<string[]> {
    const ids: string[] = [];
    for (const { id } of apps) {
      const rows = await database.query<{ id: string }>('SELECT id::text FROM intent WHERE client_id = $1', [id]);
      expect(rows).toHaveLength(1);
      ids.push(...rows.map((row) => row.id));
    }
    return ids;
  }

  const waiters = (table: string) =>
    database.query(`SELECT pid FROM pg_locks WHERE relation = '${table}'::regclass AND NOT granted`);
  /** While the test holds the table, whatever writes to it waits; resolves once all proxies do. */
  async function whileLocked(table: 'intent' | 'outcome', work: (waiting: Promise<void>) => Promise<void>) {
    await database.query(`BEGIN; LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    try {
      await work(eventually(async () => (await waiters(table)).length === proxies().length));
    } finally {
      await database.query('ROLLBACK');
    }
  }

  /** Both were sent at most once, are in doubt, and are told so; what they had reserved stays reserved. */
  async function expectDoubt(told: Told[], executed: number): Promise<void> {
    const listed = await inDoubt();
    const ids = await calls();
    for (const [index, app] of apps.entries()) {
      const call = ids[index];
      const code = app.asking.idempotencyKey ? 'outcome_unknown' : 'suspected_duplicate';
      expect(told[index]).toMatchObject({ status: 409, json: { code, first_call_id: call } });
      expect((await executions(app)).executed).toBe(executed);
      expect(listed).toContain(call);
      expect(await spent(app)).toBe(AMOUNT * items);
    }
  }

  it("before the intent's commit: nothing was sent, and the retry is carried out", async () => {
    await whileLocked('intent', async (waiting) => {
      const asked = askAll();
      await waiting;
      await killAll(asked); // but a statement that waits would commit all the same
      for (const { pid } of await waiters('intent')) await database.query('SELECT pg_terminate_backend($1)', [pid]);
    });
    for (const app of apps) expect(await executions(app)).toEqual({ asked: 0, executed: 0 });
    const told = await retryAll();
    const ids = await calls();
    for (const [index, app] of apps.entries()) {
      expect(told[index]).toMatchObject({ status: 200, json: { status: 'success' } });
      expect(told[index]?.headers.get('x-call-id')).toBe(ids[index]);
      expect(await executions(app)).toEqual({ asked: 1, executed: 1 });
      expect(await spent(app)).toBe(AMOUNT);
    }
  });

  it("after the intent's commit, before a byte is sent: in doubt", async () => {
    separate();
    postgres.holdAnswersTo('insert_intents_if_clear'); // and commit; the proxies do not hear of it
    const asked = askAll();
    await postgres.held('answers', apps.length);
    await calls(); // they are there
    await killAll(asked);
    await expectDoubt(await retryAll(), 0);
    for (const app of apps) expect(await executions(app)).toEqual({ asked: 0, executed: 0 });
  });

  describe('with a body that leaves in parts', () => {
    beforeAll(() => (items = 400));
    afterAll(() => (items = 1));

    it('while it is being sent: in doubt', async () => {
      const half = JSON.stringify(apps[0]?.asking.body).length / 2;
      upstream.hold('requests', half);
      const asked = askAll();
      await upstream.held('requests', apps.length);
      await killAll(asked);
      await expectDoubt(await retryAll(), 0);
    });
  });

  it('after it was carried out, before the answer has come: in doubt', async () => {
    upstream.hold('answers');
    const asked = askAll();
    await upstream.held('answers', apps.length);
    await killAll(asked);
    await expectDoubt(await retryAll(), 1);
  });

  it("after the answer, before the outcome's commit: in doubt", async () => {
    separate();
    await whileLocked('outcome', async (waiting) => {
      const asked = askAll();
      await waiting;
      await killAll(asked);
      // The statements are on their way: as if the machine of the database had gone with the proxies', they do not arrive.
      await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'outcome'::regclass AND NOT granted`,
      );
    });
    await expectDoubt(await retryAll(), 1);
  });

  it.each([
    [
      'an outcome that commits when its proxy is gone counts',
      async () => {
        separate();
        await whileLocked('outcome', async (waiting) => {
          const asked = askAll();
          await waiting;
          await killAll(asked);
        });
        const ids = await calls();
        await eventually(
          async () => (await database.query('SELECT FROM outcome WHERE intent_id = ANY ($1)', [ids])).length === 2,
        );
      },
    ],
    [
      "after the outcome's commit, before the reply",
      async () => {
        door.hold('answers');
        const asked = askAll();
        await door.held('answers', apps.length);
        await killAll(asked);
      },
    ],
  ])('%s: the recorded answer is replayed', async (_point, crash) => {
    await crash();
    const [keyed, bare] = await retryAll();
    const ids = await calls();
    expect(keyed).toMatchObject({ status: 200, json: { status: 'success' } });
    expect(keyed?.headers.get('idempotent-replayed')).toBe('true');
    expect(keyed?.headers.get('x-call-id')).toBe(ids[0]);
    expect(bare).toMatchObject({ status: 409, json: { code: 'suspected_duplicate', first_call_id: ids[1] } });
    const listed = await inDoubt();
    for (const [index, app] of apps.entries()) {
      expect(await executions(app)).toEqual({ asked: 1, executed: 1 });
      expect(listed).not.toContain(ids[index]);
      expect(await spent(app)).toBe(AMOUNT);
    }
  });
});
