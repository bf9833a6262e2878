import { holdWrites, loseWrites, writesWait } from '../support/databases/held-writes';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { Gate } from '../support/payments/gate';
import { copiedIn, loseCalls } from '../support/payments/lost-calls';
import { eventually } from '../support/payments/paying';
import { runCli } from '../support/processes/cli';
import {
  AppRequest,
  ask,
  askUntilSettled,
  createClient,
  Fleet,
  AppResponse,
} from '../support/processes/fleet';
import { airtime, API_KEY, startSandbox, TestSandbox } from '../support/sandbox/sandbox';

const AMOUNT = 1.25;

/** Daily, per person. */
const CAP = 5;
const FITTING = CAP / AMOUNT;
const ORDERS = [1, 2, 3, 4, 5, 6, 7, 8];

interface Order {
  person: string;
  phone: string;
  request: AppRequest;
}

/** Kills two proxies during admission, sending and answers of payments of new people. */
describe('the cap of a person', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let postgres: Gate;
  let upstream: Gate;
  let fleet: Fleet;
  let app: { id: string; key: string };
  let orders: Order[];

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({}, database);
    [postgres, upstream] = [await Gate.start(() => database.url), await Gate.start(() => sandbox.url)];
    const throughGate = Object.assign(new URL(database.url), { port: new URL(postgres.url).port }).toString();
    fleet = await Fleet.start(2, database, {
      DATABASE_URL: throughGate,
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEY: API_KEY,
    });
    app = await createClient(database, 'app', ['pay']);
    await database.query('UPDATE client SET person_daily_cap_usd = $2 WHERE id = $1', [app.id, CAP]);
  });
  afterAll(async () => {
    await fleet?.stop();
    for (const gate of [upstream, postgres]) await gate?.stop();
    await sandbox?.close();
    await database?.close();
  });

  const ordersFor = (persons: string[]): Order[] =>
    persons.flatMap((person) =>
      ORDERS.map((number) => {
        const phone = `+2547000${String(person.charCodeAt(0)).padStart(3, '0')}0${number}`;
        const idempotencyKey = `${person}-${number}`;
        return {
          person,
          phone,
          request: { key: app.key, actor: person, idempotencyKey, body: airtime(AMOUNT, phone) },
        };
      }),
    );
  const ordersOf = (person: string) => orders.filter((order) => order.person === person);

  /** Sends the first requests of every person over both proxies. Killed proxies leave requests unanswered. */
  const askFor = (...numbers: number[]) => {
    const selected = orders.filter(({ request }) =>
      numbers.some((number) => request.idempotencyKey?.endsWith(`-${number}`)),
    );
    return selected.map(({ request }, index) => ask(fleet.url(index % 2), request).catch(() => undefined));
  };

  async function killAndRestart(lost: Promise<unknown>[], whenDead = async () => {}): Promise<void> {
    await Promise.all([fleet.kill(0), fleet.kill(1)]);
    for (const gate of [upstream, postgres]) {
      gate.cut();
      gate.open();
    }
    await whenDead();
    await Promise.all(lost);
    await Promise.all([fleet.restart(0), fleet.restart(1)]);
  }

  const askAll = () =>
    Promise.all(orders.map(({ request }, index) => askUntilSettled(() => fleet.url(index % 2), request)));

  /** Number of executions of each order of a person. */
  async function executionsOf(person: string): Promise<number[]> {
    const paid = (await sandbox.requests()).filter(({ processed }) => processed);
    return ordersOf(person).map(
      ({ phone }) => paid.filter(({ body }) => JSON.stringify(body)?.includes(JSON.stringify(phone))).length,
    );
  }

  async function spentBy(person: string): Promise<unknown> {
    const [row] = await database.query(
      `SELECT sum(s.usd)::float8 AS usd FROM payer_spending s JOIN person p ON p.id = s.payer_id
       WHERE p.name = $1`,
      [person],
    );
    return row?.usd;
  }

  /** Paid and in-doubt orders fill the cap of each person exactly. The others were refused. */
  async function expectCaps(answers: AppResponse[]): Promise<void> {
    const holds = ({ status, json }: AppResponse) => status === 200 || json.code === 'outcome_unknown';
    for (const person of new Set(orders.map((order) => order.person))) {
      const own = answers.filter((_answer, index) => orders[index]?.person === person);
      const refused = own.filter((answer) => !holds(answer)).map(({ json }) => json.code);
      expect(refused).toEqual(Array(ORDERS.length - FITTING).fill('cap_exceeded'));
      expect(await spentBy(person)).toBe(CAP);
      const executions = await executionsOf(person);
      expect(Math.max(...executions)).toBeLessThanOrEqual(1);
      expect(executions.filter((times) => times > 0).length).toBeLessThanOrEqual(FITTING);
    }
  }

  it('is never exceeded, and refuses nothing below it, despite killed proxies', async () => {
    orders = ordersFor(['ada', 'bob', 'eve']);
    postgres.holdAnswersTo('insert_intents_if_clear'); // commits, and hides it from the proxies
    const unheard = askFor(1);
    await postgres.held('answers', 2);
    await killAndRestart(unheard);
    expect(await database.query('SELECT FROM intent')).not.toEqual([]);

    await database.query('BEGIN');
    await holdWrites(database, 'intent');
    const admitting = askFor(2, 3);
    await writesWait(database, 'intent', 1); // the others wait for their client
    await killAndRestart(admitting, async () => {
      await loseWrites(database, 'intent');
      await database.query('ROLLBACK');
    });

    upstream.hold('answers');
    const sending = askFor(4, 5);
    await upstream.held('answers', 2);
    await killAndRestart(sending);

    await Promise.all(askFor(6, 7, 8)); // new ones, limited by the caps alone
    await askAll();
    await expectCaps(await askAll()); // all earlier requests are finished
  });

  /** The calls of the last second before a crash may have no copy. */
  it('holds after a recovery of a database without the people', async () => {
    orders = ordersFor(['kim', 'lea']);
    const paid = (await Promise.all(askFor(1, 2, 3))).map((answer) => answer?.headers.get('x-call-id') ?? '');
    const isCopied = (id: string) =>
      fleet.dataDirs.flatMap(copiedIn).some((line) => line.includes(`"intent_id":"${id}"`));
    await eventually(() => paid.every(isCopied));
    await Promise.all([fleet.kill(0), fleet.kill(1)]);
    const [dataDir = ''] = fleet.dataDirs;
    await loseCalls(database, dataDir, '');
    const recovered = await runCli(
      [
        'database',
        'recover',
        '--from',
        ...fleet.dataDirs,
        '--force',
        '--reason',
        'a drill',
        '--yes',
        '--json',
      ],
      { DATABASE_URL: database.url, DATABASE_OWNER_URL: database.ownerUrl, DATA_DIR: dataDir },
      dataDir,
    );
    expect([recovered.code, recovered.stderr]).toEqual([0, '']);
    expect(await database.query('SELECT FROM person WHERE name IS NOT NULL')).toEqual([]);
    await database.query('INSERT INTO stop_lift (stop_id) SELECT id FROM stop');
    await Promise.all([fleet.restart(0), fleet.restart(1)]);
    await expectCaps(await askAll());
  });
});
