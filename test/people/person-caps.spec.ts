import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { SCOPES } from '../../src/operations/catalogue/scopes';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { first } from '../support/examples/first';
import { createClient } from '../support/processes/fleet';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../support/processes/proxy';
import { airtime, startSandbox, TestSandbox } from '../support/sandbox/sandbox';

const DAY_MS = 86_400_000;
const LONGEST_TEST_MS = 30_000;

interface Paid {
  person: string;
  usd: Decimal;
  code: string;
  text: string;
}

/** No cap is exceeded, from a person's first request on, and no payment below it is refused. */
describe('the caps of persons, over two proxies', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let proxies: TestProxy[];
  let clients = 0;
  let persons = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({ apiKey: UPSTREAM_KEY }, database);
    proxies = [];
    while (proxies.length < 2) proxies.push(await startProxy({ upstreamBaseUrl: sandbox.url }, database));
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close();
    await sandbox?.close();
    await database?.close();
  });
  beforeEach(async () => {
    // Caps reset at midnight UTC, so each test must end on the day of its start.
    const leftOfDayMs = DAY_MS - (Date.now() % DAY_MS);
    if (leftOfDayMs < LONGEST_TEST_MS) await new Promise((resolve) => setTimeout(resolve, leftOfDayMs));
    await sandbox.control('post', '/reset').expect(204);
  });

  /** @param limits columns of the client, such as `person_daily_cap_usd`. */
  async function newClient(
    limits: Record<string, string>,
    scopes: Parameters<typeof createClient>[2] = ['pay'],
  ) {
    const client = await createClient(database, `persons-${(clients += 1)}`, scopes);
    for (const [column, value] of Object.entries(limits)) {
      await database.query(`UPDATE client SET ${column} = $2 WHERE id = $1`, [client.id, value]);
    }
    return client;
  }

  const newPerson = () => `person-${(persons += 1)}`;

  async function pay(key: string, person: string | undefined, usd: Decimal, proxy = 0): Promise<Paid> {
    const request = proxies[proxy % 2]!.post(key, '/payouts/airtime', airtime(usd.toNumber()));
    const { status, body } = await (person === undefined ? request : request.set('X-Actor', person));
    const { code = String(status), error = '' } = body as { code?: string; error?: string };
    return { person: person ?? '', usd, code, text: error };
  }

  const sum = (amounts: Decimal[]) => amounts.reduce((total, usd) => total.plus(usd), new Decimal(0));
  const paidOf = (paid: Paid[]) => sum(paid.filter(({ code }) => code === '200').map(({ usd }) => usd));

  /** Returns the spending of people, exact as stored. */
  async function spending(...names: string[]): Promise<string> {
    const sql = `SELECT coalesce(sum(usd), 0)::text AS usd FROM payer_spending JOIN person ON id = payer_id
      WHERE name = ANY ($1)`;
    return first(await database.query<{ usd: string }>(sql, [names])).usd;
  }

  /** Merges the people with these names. */
  const merge = (...names: string[]) =>
    database.query(
      'SELECT merge_people((array_agg(id))[1], (array_agg(id))[2]) FROM person WHERE name = ANY ($1)',
      [names],
    );

  async function carriedOut(): Promise<string> {
    const done = (await sandbox.requests('POST /payouts/airtime')).filter(({ processed }) => processed);
    const usd = ({ body }: (typeof done)[number]) =>
      first((body as ReturnType<typeof airtime>).airtimes).valueInUSD;
    return sum(done.map((request) => new Decimal(usd(request)))).toFixed(6);
  }

  it('hold for many simultaneous first requests of a person', async () => {
    const { key } = await newClient({ person_daily_cap_usd: '1' });
    const person = newPerson();
    const usd = new Decimal('0.137931'); // seven cost 0.965517
    const paid = await Promise.all(Array.from({ length: 40 }, (_, index) => pay(key, person, usd, index)));
    const codes = paid.map(({ code }) => code).sort();
    expect(codes).toEqual([...Array<string>(7).fill('200'), ...Array<string>(33).fill('cap_exceeded')]);
    expect([await carriedOut(), await spending(person)]).toEqual(['0.965517', '0.965517']);
    const refused = await pay(key, person, new Decimal('0.034484'));
    expect(refused.code).toBe('cap_exceeded');
    expect(refused.text).toContain("This person's daily cap is 1");
    expect((await pay(key, person, new Decimal('0.034483'))).code).toBe('200');
    expect(await database.query('SELECT FROM person WHERE name = $1', [person])).toHaveLength(1);
  });

  it('equal the sum paid for each human, and refuse only what exceeds them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 900_000 })), {
          minLength: 4,
          maxLength: 24,
        }),
        fc.integer({ min: 200_000, max: 2_000_000 }),
        fc.boolean(),
        async (payments, capMicros, areOne) => {
          const cap = new Decimal(capMicros).dividedBy(1_000_000);
          const { key } = await newClient({ person_daily_cap_usd: cap.toFixed() });
          const names = [newPerson(), newPerson(), newPerson()] as const;
          for (const name of names) expect((await pay(key, name, new Decimal(5))).code).toBe('cap_exceeded');
          if (areOne) await merge(names[0], names[1]);
          const paid = await Promise.all(
            payments.map(([person, micros], index) =>
              pay(key, names[person], new Decimal(micros).dividedBy(1_000_000), index),
            ),
          );
          expect(paid.filter(({ code }) => !['200', 'cap_exceeded'].includes(code))).toEqual([]);
          const [ada, bob, carol] = names;
          for (const human of areOne ? [[ada, bob], [carol]] : [[ada], [bob], [carol]]) {
            const own = paid.filter(({ person }) => human.includes(person));
            const spent = paidOf(own);
            expect(spent.lte(cap)).toBe(true);
            expect(await spending(...human)).toBe(spent.isZero() ? '0' : spent.toFixed(6));
            // Nothing is released, so a refused amount exceeded the cap at the end, too.
            for (const { usd, code } of own)
              if (code === 'cap_exceeded') expect(spent.plus(usd).gt(cap)).toBe(true);
          }
        },
      ),
      { numRuns: 12 },
    );
  });

  it('reset with the day and the month, without a job', async () => {
    const { id, key } = await newClient({ person_daily_cap_usd: '1', person_monthly_cap_usd: '3' });
    const person = newPerson();
    expect((await pay(key, person, new Decimal('0.5'))).code).toBe('200');
    const insert = (day: string, usd: string) =>
      database.query(
        `INSERT INTO payer_spending SELECT id, ${day}, ${usd} FROM person WHERE name = $1 AND client_id = $2
         ON CONFLICT (payer_id, day) DO UPDATE SET usd = payer_spending.usd + EXCLUDED.usd`,
        [person, id],
      );
    const monthStart = `date_trunc('month', now() AT TIME ZONE 'UTC')::date`;
    await insert(`${monthStart} - 1`, '100'); // counts on no current cap
    expect((await pay(key, person, new Decimal('0.5'))).code).toBe('200');
    expect((await pay(key, person, new Decimal('0.01'))).text).toContain('daily cap');
    await database.query(
      `UPDATE payer_spending SET day = $2::date
       WHERE usd = 1 AND payer_id = (SELECT id FROM person WHERE name = $1)`,
      [person, new Date(Date.now() - 40 * DAY_MS).toISOString()],
    );
    expect((await pay(key, person, new Decimal('1'))).code).toBe('200');
  });

  it("refuse payments above the month's cap, without a daily cap", async () => {
    const { key } = await newClient({ person_monthly_cap_usd: '1' });
    const person = newPerson();
    expect((await pay(key, person, new Decimal('0.9'))).code).toBe('200');
    expect((await pay(key, person, new Decimal('0.2'))).text).toContain("This person's monthly cap is 1");
  });

  it('are not lifted by scopes, or by other persons and clients', async () => {
    const admin = await newClient({ person_daily_cap_usd: '1' }, [...SCOPES]);
    const other = await newClient({ person_daily_cap_usd: '1' });
    const person = newPerson();
    expect((await pay(admin.key, person, new Decimal('1'))).code).toBe('200');
    expect((await pay(admin.key, person, new Decimal('0.01'))).code).toBe('cap_exceeded');
    expect((await pay(admin.key, newPerson(), new Decimal('1'))).code).toBe('200');
    // the person of another client
    expect((await pay(other.key, person, new Decimal('0.1'))).code).toBe('200');
    await merge(person);
    expect((await pay(other.key, person, new Decimal('0.9'))).code).toBe('200'); // even if both are one human
    expect((await pay(other.key, person, new Decimal('0.01'))).code).toBe('cap_exceeded');
  });

  it('cannot be avoided by omitting the person', async () => {
    const { key } = await newClient({ person_daily_cap_usd: '1' });
    expect((await pay(key, undefined, new Decimal('0.01'))).code).toBe('person_required');
    expect(await carriedOut()).toBe('0.000000');
  });

  it('have exceptions, which take effect with the next request on every proxy', async () => {
    const { id, key } = await newClient({ person_daily_cap_usd: '1', person_max_item_usd: '0.5' });
    const person = newPerson();
    for (const proxy of [0, 1])
      expect((await pay(key, person, new Decimal('0.6'), proxy)).code).toBe('cap_exceeded');
    const change = async (column: string, value: string) => {
      await database.query(`UPDATE person SET ${column} = $2 WHERE name = $1`, [person, value]);
      await database.query('UPDATE client SET name = name WHERE id = $1', [id]);
    };
    await change('max_item_usd', '5');
    for (const proxy of [0, 1]) expect((await pay(key, person, new Decimal('0.1'), proxy)).code).toBe('200');
    expect((await pay(key, person, new Decimal('0.9'))).text).toContain(
      'daily cap is 1 US dollars, with 0.8 ',
    );
    await change('daily_cap_usd', '2');
    for (const proxy of [0, 1]) expect((await pay(key, person, new Decimal('0.9'), proxy)).code).toBe('200');
    expect((await pay(key, person, new Decimal('0.1'))).code).toBe('cap_exceeded');
    await change('max_item_usd', '0.01');
    for (const proxy of [0, 1])
      expect((await pay(key, person, new Decimal('0.02'), proxy)).text).toContain('limit of its person');
  });

  it('regain unpaid amounts', async () => {
    const { key } = await newClient({ person_daily_cap_usd: '1' });
    const person = newPerson();
    const unconnected = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' }, database);
    const unsent = unconnected.post(key, '/payouts/airtime', airtime(1)).set('X-Actor', person);
    expect((await unsent.expect(503)).body.code).toBe('upstream_unreachable');
    await unconnected.close();
    expect(await spending(person)).toBe('0.000000');
    expect((await pay(key, person, new Decimal('1'))).code).toBe('200');
    expect((await pay(key, person, new Decimal('0.01'))).code).toBe('cap_exceeded');
  });

  it('limit the requests of one person, not of others', async () => {
    const { key } = await newClient({ person_requests_per_minute: '3' });
    const [frequent, other] = [newPerson(), newPerson()];
    const codes = [];
    for (const proxy of [0, 1, 2, 3]) codes.push((await pay(key, frequent, new Decimal('0.01'), proxy)).code);
    expect(codes).toEqual(['200', '200', '200', 'rate_limited']);
    expect((await pay(key, other, new Decimal('0.01'))).code).toBe('200');
  });

  it('keep the replay of a person from another one', async () => {
    const { key } = await newClient({});
    const [alice, bob] = [newPerson(), newPerson()];
    const order = (person: string | undefined) => {
      const request = proxies[0]!.post(key, '/payouts/airtime', airtime(1)).set('Idempotency-Key', 'order-1');
      return person === undefined ? request : request.set('X-Actor', person);
    };
    await order(alice).expect(200);
    expect((await order(bob).expect(422)).body).toMatchObject({ code: 'idempotency_key_reused' });
    // A retry without the header X-Actor must not pay twice.
    for (const person of [alice, undefined])
      expect((await order(person).expect(200)).headers['idempotent-replayed']).toBe('true');
    expect(await carriedOut()).toBe('1.000000');
  });
});
