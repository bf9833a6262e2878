import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { holdWrites, loseWrites, writesWait } from '../../support/databases/held-writes';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { Gate } from '../../support/payments/gate';
import { eventually } from '../../support/payments/paying';
import {
  ask,
  AppRequest,
  askUntilSettled,
  createClient,
  executionsOf,
  Fleet,
  AppResponse,
} from '../../support/processes/fleet';
import { airtime, API_KEY, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

const AMOUNT = 1.25;

/** Items of a body that is sent in parts. */
const MANY_ITEMS = 400;

interface App {
  /** ID of its client. */
  id: string;
  asking: AppRequest;
  /** Index of its proxy. */
  proxy: number;
}

/** Two simultaneous apps: one with an Idempotency-Key, one without. */
interface Pair {
  apps: App[];
  items: number;
  /** The first requests, which get no answer. */
  lost: Promise<AppResponse>[];
  /** The answers to the retries after the restart. */
  told: AppResponse[];
}

/** Two proxies are killed with two apps at each point of a payout. After the restart, all apps retry. */
describe('a payout whose proxy is killed', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let upstream: Gate;
  let postgres: Gate;
  let fleet: Fleet;
  let auditor: string;
  let doors: Gate[];

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({}, database);
    upstream = await Gate.start(() => sandbox.url);
    postgres = await Gate.start(() => database.url);
    const throughGate = Object.assign(new URL(database.url), { port: new URL(postgres.url).port }).toString();
    const urls = { DATABASE_URL: throughGate, UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEY: API_KEY };
    const times = { DUPLICATE_WINDOW_SECONDS: '86400', UPSTREAM_TIMEOUT_MS: '600000' }; // Above the test's.
    fleet = await Fleet.start(2, database, { ...urls, ...times });
    doors = [await Gate.start(() => fleet.url(0)), await Gate.start(() => fleet.url(1))];
    auditor = (await createClient(database, 'auditor', ['audit'])).key;
  });
  afterAll(async () => {
    await fleet?.stop();
    for (const gate of [...(doors ?? []), upstream, postgres]) await gate?.stop();
    await sandbox?.close();
    await database?.close();
  });

  let names = 0;
  async function newApp(kind: 'keyed' | 'bare', items: number, proxy: number): Promise<App> {
    names += 1;
    const phone = `+2547000${String(names).padStart(5, '0')}`;
    const { id, key } = await createClient(database, `${kind}-${names}`, ['pay'], { daily_cap_usd: '1000' });
    const body = { airtimes: Array.from({ length: items }, () => airtime(AMOUNT, phone).airtimes[0]) };
    const idempotencyKey = kind === 'keyed' ? 'order-1' : undefined;
    return { id, proxy, asking: { key, body, idempotencyKey } };
  }

  const urlOf = ({ proxy }: App) => doors[proxy]!.url;

  /** @param separate gives each app its own proxy. In one proxy, the second waits for the first's commit. */
  async function newPair({ items = 1, separate = false } = {}): Promise<Pair> {
    const apps = [await newApp('keyed', items, 0), await newApp('bare', items, separate ? 1 : 0)];
    return { apps, items, lost: [], told: [] };
  }

  const askAll = (pair: Pair) => pair.lost.push(...pair.apps.map((app) => ask(urlOf(app), app.asking)));

  /** Kills the proxies before they answer, and removes their spooled outcomes. */
  async function killProxies(pairs: Pair[], afterKill = () => Promise.resolve()): Promise<void> {
    await Promise.all([fleet.kill(0), fleet.kill(1)]);
    await afterKill();
    for (const folder of fleet.dataDirs) rmSync(join(folder, 'outcomes'), { recursive: true, force: true });
    const gates = [upstream, postgres, ...doors];
    for (const gate of gates) gate.cut();
    for (const gate of gates) gate.open();
    for (const { lost } of pairs) {
      const ends = await Promise.allSettled(lost);
      expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    }
  }

  async function restartAndRetry(pairs: Pair[]): Promise<void> {
    await Promise.all([fleet.restart(0), fleet.restart(1)]);
    const retry = (app: App) => askUntilSettled(() => urlOf(app), app.asking);
    await Promise.all(pairs.map(async (pair) => (pair.told = await Promise.all(pair.apps.map(retry)))));
  }

  const SPENT = 'SELECT coalesce(sum(usd), 0)::float8 AS usd FROM spending WHERE client_id = $1';
  const spent = async ({ id }: App) => (await database.query(SPENT, [id]))[0]?.usd;

  async function inDoubt(): Promise<string[]> {
    const page = `${fleet.url(0)}/v1/audit/calls?outcome=unknown&page_size=200`;
    const response = await fetch(page, { headers: { 'X-API-Key': auditor } });
    const { calls } = (await response.json()) as { calls: { id: string }[] };
    return calls.map(({ id }) => id);
  }

  /** Returns the only call of each app. */
  async function callsOf({ apps }: Pair): Promise<string[]> {
    const clients = apps.map(({ id }) => id);
    const rows = await database.query<{ id: string; client: string }>(
      `SELECT id::text, client_id::text AS client FROM intent WHERE client_id = ANY ($1::uuid[])
       ORDER BY array_position($1::uuid[], client_id)`,
      [clients],
    );
    expect(rows.map(({ client }) => client)).toEqual(clients);
    return rows.map(({ id }) => id);
  }

  /** Expects that both were sent at most once, are in doubt, and keep their reservations. */
  async function expectDoubt(pair: Pair, expected: { asked?: number; executed: number }): Promise<void> {
    const listed = await inDoubt();
    const ids = await callsOf(pair);
    for (const [index, app] of pair.apps.entries()) {
      const call = ids[index];
      const code = app.asking.idempotencyKey ? 'outcome_unknown' : 'suspected_duplicate';
      expect(pair.told[index]).toMatchObject({ status: 409, json: { code, first_call_id: call } });
      expect(await executionsOf(sandbox, app.asking)).toMatchObject(expected);
      expect(listed).toContain(call);
      expect(await spent(app)).toBe(AMOUNT * pair.items);
    }
  }

  async function expectReplay(pair: Pair): Promise<void> {
    const [keyed, bare] = pair.told;
    const ids = await callsOf(pair);
    expect(keyed).toMatchObject({ status: 200, json: { status: 'success' } });
    expect(keyed?.headers.get('idempotent-replayed')).toBe('true');
    expect(keyed?.headers.get('x-call-id')).toBe(ids[0]);
    expect(bare).toMatchObject({ status: 409, json: { code: 'suspected_duplicate', first_call_id: ids[1] } });
    const listed = await inDoubt();
    for (const [index, app] of pair.apps.entries()) {
      expect(await executionsOf(sandbox, app.asking)).toEqual({ asked: 1, executed: 1 });
      expect(listed).not.toContain(ids[index]);
      expect(await spent(app)).toBe(AMOUNT);
    }
  }

  describe('between the commit of its intent and the reply', () => {
    let replying: Pair;
    let concluding: Pair;
    let sending: Pair;
    let waiting: Pair;
    let admitted: Pair;

    // Each pair reaches its point before the next one starts. The next hold would stop it too early.
    beforeAll(async () => {
      [replying, waiting] = [await newPair(), await newPair()];
      [concluding, admitted] = [await newPair({ separate: true }), await newPair({ separate: true })];
      sending = await newPair({ items: MANY_ITEMS });
      for (const door of doors) door.hold('answers');
      askAll(replying);
      await doors[0]!.held('answers', 2);
      await database.query('BEGIN');
      await holdWrites(database, 'outcome');
      askAll(concluding);
      await writesWait(database, 'outcome', 2);
      upstream.hold('requests', JSON.stringify(sending.apps[0]?.asking.body).length / 2);
      askAll(sending);
      await upstream.held('requests', 2);
      upstream.hold('answers');
      askAll(waiting);
      await upstream.held('answers', 2);
      postgres.holdAnswersTo('insert_intents_if_clear'); // The commit succeeds without an answer.
      askAll(admitted);
      await postgres.held('answers', 2);
      const pairs = [replying, concluding, sending, waiting, admitted];
      await Promise.all(pairs.map(callsOf)); // Their intents exist.
      await killProxies(pairs);
      await loseWrites(database, 'outcome');
      await database.query('ROLLBACK');
      await restartAndRetry(pairs);
    });

    it('is in doubt before its first byte is sent', () => expectDoubt(admitted, { asked: 0, executed: 0 }));

    it('is in doubt while its body is being sent', () => expectDoubt(sending, { executed: 0 }));

    it('is in doubt before the response', () => expectDoubt(waiting, { asked: 1, executed: 1 }));

    it('is in doubt before the commit of its outcome', () =>
      expectDoubt(concluding, { asked: 1, executed: 1 }));

    it('replays the recorded response after the commit of its outcome', () => expectReplay(replying));
  });

  describe('while a statement is on its way to the database', () => {
    let concluded: Pair;
    let admitting: Pair;
    let sentBeforeRetry: object[];

    beforeAll(async () => {
      [concluded, admitting] = [await newPair({ separate: true }), await newPair()];
      for (const door of doors) door.hold('answers');
      await database.query('BEGIN');
      await holdWrites(database, 'outcome');
      askAll(concluded);
      await writesWait(database, 'outcome', 2);
      await holdWrites(database, 'intent');
      askAll(admitting);
      await writesWait(database, 'intent', 1);
      await writesWait(database, 'outcome', 2); // Again, because each attempt waits for a second.
      await killProxies([concluded, admitting], async () => {
        await loseWrites(database, 'intent');
        await database.query('ROLLBACK'); // Before the last attempts give up.
      });
      const ids = await callsOf(concluded);
      const recorded = () => database.query('SELECT FROM outcome WHERE intent_id = ANY ($1)', [ids]);
      await eventually(async () => (await recorded()).length === 2);
      sentBeforeRetry = await Promise.all(admitting.apps.map(({ asking }) => executionsOf(sandbox, asking)));
      await restartAndRetry([concluded, admitting]);
    });

    it('replays the recorded response if its outcome commits after the proxy is killed', () =>
      expectReplay(concluded));

    it('is sent only by the retry if its intent was not committed', async () => {
      const ids = await callsOf(admitting);
      for (const [index, app] of admitting.apps.entries()) {
        expect(sentBeforeRetry[index]).toEqual({ asked: 0, executed: 0 });
        expect(admitting.told[index]).toMatchObject({ status: 200, json: { status: 'success' } });
        expect(admitting.told[index]?.headers.get('x-call-id')).toBe(ids[index]);
        expect(await executionsOf(sandbox, app.asking)).toEqual({ asked: 1, executed: 1 });
        expect(await spent(app)).toBe(AMOUNT);
      }
    });
  });
});
