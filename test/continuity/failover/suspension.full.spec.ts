import { LOCKS } from '../../../src/platform/database/locks';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { Gate } from '../../support/payments/gate';
import { eventually } from '../../support/payments/paying';
import {
  ask,
  AppRequest,
  createClient,
  executionsOf,
  Fleet,
  AppResponse,
} from '../../support/processes/fleet';
import { airtime, API_KEY, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

const AMOUNT = 1.25;

interface App {
  /** Of its client. */
  id: string;
  asking: AppRequest;
}

/**
 * A proxy is frozen while a payment is at one point of its way. The database loses sight of it, so another
 * instance may settle the call as the upstream shows it, and the app asks again with the same key. Then the
 * proxy wakes up. The test changes no clock and no record: it repeats the settlement until the instance
 * accepts it.
 */
describe('a payment whose proxy is suspended', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let upstream: Gate;
  let postgres: Gate;
  let frozen: Fleet;
  let other: Fleet;
  let approver: string;
  /** The process number of the proxy that is frozen. */
  let number: number;

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({}, database);
    upstream = await Gate.start(() => sandbox.url);
    postgres = await Gate.start(() => database.url);
    const throughGate = Object.assign(new URL(database.url), { port: new URL(postgres.url).port }).toString();
    const shared = {
      REQUEST_DEADLINE_MS: '30000', // a call is frozen before it is over, however slow the machine is
      UPSTREAM_API_KEY: API_KEY,
      UPSTREAM_TIMEOUT_MS: '10000', // so is that of the first call when another one waits for its place
      DUPLICATE_GUARD: 'false',
    };
    frozen = await Fleet.start(1, database, {
      ...shared,
      DATABASE_URL: throughGate,
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_CONNECTIONS: '1', // a second call waits for the first
    });
    [{ number }] = (await database.query<{ number: number }>('SELECT number FROM process')) as [
      { number: number },
    ];
    other = await Fleet.start(1, database, { ...shared, UPSTREAM_BASE_URL: sandbox.url });
    approver = (await createClient(database, 'approver', ['approve', 'audit'])).key;
  });
  afterAll(async () => {
    frozen?.signal(0, 'SIGCONT');
    await Promise.all([frozen?.stop(), other?.stop()]);
    for (const gate of [upstream, postgres]) await gate?.stop();
    await sandbox?.close();
    await database?.close();
  });
  afterEach(() => thaw());

  let names = 0;
  async function newApp(): Promise<App> {
    names += 1;
    const phone = `+2547000${String(names).padStart(5, '0')}`;
    const { id, key } = await createClient(database, `app-${names}`, ['pay'], {
      daily_cap_usd: String(AMOUNT),
    });
    return { id, asking: { key, body: airtime(AMOUNT, phone), idempotencyKey: 'order-1' } };
  }

  const askFrozen = ({ asking }: App): Promise<AppResponse> => ask(frozen.url(0), asking);
  const askOther = ({ asking }: App): Promise<AppResponse> => ask(other.url(0), asking);

  /** Stops the process, and ends the connection by which the database knows that it lives. */
  async function freeze(): Promise<void> {
    frozen.signal(0, 'SIGSTOP');
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE classid = ${LOCKS.process} AND objsubid = 2
        AND objid = $1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [number],
    );
  }

  function thaw(): void {
    frozen.signal(0, 'SIGCONT');
    upstream.open();
    postgres.open();
  }

  const callsOf = ({ id }: App) =>
    database.query<{ id: string; outcome: string | null }>(
      `SELECT i.id::text, coalesce(s.resolution, o.kind) AS outcome FROM intent i
        LEFT JOIN outcome o ON o.intent_id = i.id
        LEFT JOIN current_settlement s ON s.intent_id = i.id WHERE i.client_id = $1 ORDER BY i.id`,
      [id],
    );

  /** Settles the only call of an app by hand on the other instance, as soon as that accepts it. */
  async function settle(app: App, outcome: 'not_executed' | 'confirmed'): Promise<void> {
    const [call] = await callsOf(app);
    const url = `${other.url(0)}/v1/calls/${call?.id}/resolution`;
    await eventually(async () => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'X-API-Key': approver, 'Content-Type': 'application/json' },
        body: JSON.stringify({ outcome, reason: 'The list of the upstream shows it.' }),
      });
      return response.status === 200;
    });
  }

  /** Paid once, counted once, and every call has an outcome that says which. */
  async function expectPaidOnce(app: App, outcomes: string[]): Promise<void> {
    expect((await executionsOf(sandbox, app.asking)).executed).toBe(1);
    await eventually(async () => (await callsOf(app)).every(({ outcome }) => outcome !== null));
    expect((await callsOf(app)).map(({ outcome }) => outcome).sort()).toEqual(outcomes);
    const [spent] = await database.query(
      'SELECT sum(usd)::float8 AS usd FROM spending WHERE client_id = $1',
      [app.id],
    );
    expect(spent?.usd).toBe(AMOUNT);
    const acts = await database.query(
      `SELECT FROM activity WHERE action = 'key_paid_twice' AND target_client_id = $1`,
      [app.id],
    );
    expect(acts).toEqual([]);
  }

  /** It was refused, or has the answer of the payment that another instance made meanwhile. */
  async function expectUnpaid(late: Promise<AppResponse>): Promise<void> {
    const { status, headers } = await late;
    expect([status, headers.get('idempotent-replayed')]).toEqual(
      status === 200 ? [200, 'true'] : [503, null],
    );
  }

  it('is not admitted if another instance paid before its admission reached the database', async () => {
    const app = await newApp();
    postgres.holdRequestsWith('insert_intents_if_clear');
    const late = askFrozen(app);
    await postgres.held('requests');
    await freeze();
    expect((await askOther(app)).status).toBe(200);
    thaw();
    await expectUnpaid(late);
    await expectPaidOnce(app, ['succeeded']);
  });

  it('is not sent if its admission is confirmed after a settlement and a second payment', async () => {
    const app = await newApp();
    postgres.holdAnswersTo('insert_intents_if_clear');
    const late = askFrozen(app);
    await postgres.held('answers');
    await freeze();
    await settle(app, 'not_executed');
    expect((await askOther(app)).status).toBe(200);
    thaw();
    await expectUnpaid(late);
    await expectPaidOnce(app, ['not_executed', 'succeeded']);
  });

  it('is not sent if the connection of its admission is lost', async () => {
    const app = await newApp();
    postgres.holdAnswersTo('insert_intents_if_clear');
    const late = askFrozen(app);
    await postgres.held('answers');
    await freeze();
    await settle(app, 'not_executed');
    expect((await askOther(app)).status).toBe(200);
    postgres.cut();
    thaw();
    await expectUnpaid(late);
    await expectPaidOnce(app, ['not_executed', 'succeeded']);
  });

  describe('behind another payment', () => {
    it('is not sent if it was queued, and the other one is recorded once', async () => {
      const [first, queued] = [await newApp(), await newApp()];
      upstream.hold('answers');
      const answered = askFrozen(first);
      await upstream.held('answers');
      const late = askFrozen(queued);
      await eventually(async () => {
        const metrics = await (await fetch(`${frozen.url(0)}/metrics`)).text();
        return metrics.includes('payout_proxy_waiting_requests{account="main"} 1');
      });
      await freeze();
      await settle(first, 'confirmed');
      expect((await askOther(queued)).status).toBe(200);
      expect((await askOther(first)).headers.get('idempotent-replayed')).toBe('true');
      thaw();
      await expectUnpaid(late);
      await answered;
      await expectPaidOnce(queued, ['succeeded']); // nothing was written about the other request
      await expectPaidOnce(first, ['confirmed']);
    });
  });

  it('is replayed by another instance if its outcome was committed', async () => {
    const app = await newApp();
    postgres.holdAnswersTo('insert_outcomes');
    const late = askFrozen(app);
    await postgres.held('answers');
    await freeze();
    const replayed = await askOther(app);
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    thaw();
    expect((await late).status).toBe(200);
    await expectPaidOnce(app, ['succeeded']);
  });
});
