import { Decimal } from 'decimal.js';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { first } from '../support/examples/first';
import { Gate } from '../support/payments/gate';
import { ask, AppRequest, createClient, Limits, meetAtIntent, AppResponse } from '../support/processes/fleet';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../support/processes/proxy';
import { airtime, startSandbox, TestSandbox } from '../support/sandbox/sandbox';

const CONNECTIONS = 50;
const DAY_MS = 86_400_000;
const LONGEST_TEST_MS = 20_000;
const SEED = 20_261_121;

interface CappedClient {
  id: string;
  key: string;
}

interface PaidCall {
  clientId: string;
  usd: Decimal;
  told: AppResponse;
}

/** Promise 3: no cap is ever overspent, and no request under its cap is refused for money. */
describe('caps of clients with fifty apps and two proxies', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let upstream: Gate;
  let proxies: TestProxy[];

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({ apiKey: UPSTREAM_KEY }, database);
    upstream = await Gate.start(() => sandbox.url);
    proxies = [];
    while (proxies.length < 2) proxies.push(await startProxy({ upstreamBaseUrl: upstream.url }, database));
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close();
    await upstream?.stop();
    await sandbox?.close();
    await database?.close();
  });
  beforeEach(async () => {
    // Caps begin anew at midnight UTC, and no test may end on another day than it began.
    const leftOfDayMs = DAY_MS - (Date.now() % DAY_MS);
    if (leftOfDayMs < LONGEST_TEST_MS) await new Promise((resolve) => setTimeout(resolve, leftOfDayMs));
    await sandbox.control('post', '/reset').expect(204);
  });

  let clients = 0;
  const newClient = (limits: Limits): Promise<CappedClient> =>
    createClient(database, `capped-${(clients += 1)}`, ['pay'], limits);

  /** Each connection pays its amounts one after the other; the proxies take turns. */
  async function payAll(
    of: (connection: number) => { client: CappedClient; amounts: Decimal[] },
  ): Promise<PaidCall[]> {
    const connections = Array.from({ length: CONNECTIONS }, async (_, connection) => {
      const { client, amounts } = of(connection);
      const paid: PaidCall[] = [];
      for (const [place, usd] of amounts.entries()) paid.push(await pay(client, usd, connection + place));
      return paid;
    });
    return (await Promise.all(connections)).flat();
  }

  async function pay(client: CappedClient, usd: Decimal, proxy = 0): Promise<PaidCall> {
    const asking: AppRequest = { key: client.key, body: airtime(usd.toNumber()) };
    return { clientId: client.id, usd, told: await ask(proxies[proxy % 2]?.url ?? '', asking) };
  }

  const sum = (amounts: Decimal[]) => amounts.reduce((total, usd) => total.plus(usd), new Decimal(0));
  const codeOf = ({ told }: PaidCall) => (told.json.code as string | undefined) ?? String(told.status);
  const amountsOf = (paid: PaidCall[], ...codes: string[]) =>
    paid.filter((one) => codes.includes(codeOf(one))).map(({ usd }) => usd);

  /** To the last digit, as the database has it. */
  async function spending({ id }: CappedClient): Promise<string> {
    const sql = 'SELECT coalesce(sum(usd), 0)::text AS usd FROM spending WHERE client_id = $1';
    return first(await database.query<{ usd: string }>(sql, [id])).usd;
  }

  /** What the sandbox carried out since its reset, exactly. */
  async function carriedOut(): Promise<string> {
    const done = (await sandbox.requests('POST /payouts/airtime')).filter(({ processed }) => processed);
    return sum(
      done.map(({ body }) => new Decimal(first((body as ReturnType<typeof airtime>).airtimes).valueInUSD)),
    ).toFixed(6);
  }

  it.each([
    ['daily', { daily_cap_usd: '5' }],
    ['monthly', { monthly_cap_usd: '5' }],
    ['daily and monthly', { daily_cap_usd: '5.1', monthly_cap_usd: '5' }],
  ])('allow exactly the payouts that fit a %s cap', async (_which, limits) => {
    const client = await newClient(limits);
    // Of the month before: it counts on no cap any more.
    await database.query(
      `INSERT INTO spending SELECT $1, date_trunc('month', now() AT TIME ZONE 'UTC')::date - 1, 5`,
      [client.id],
    );
    const usd = new Decimal('0.137931'); // 36 of them are 4.965516
    const paid = await payAll(() => ({ client, amounts: [usd] }));
    expect(amountsOf(paid, '200')).toHaveLength(36);
    expect(amountsOf(paid, 'cap_exceeded')).toHaveLength(CONNECTIONS - 36);
    expect([await carriedOut(), await spending(client)]).toEqual(['4.965516', '9.965516']);
    const [left, tooMuch] = ['0.034484', '0.034485'].map((text) => new Decimal(text)) as [Decimal, Decimal];
    const refused = await pay(client, tooMuch);
    expect([refused.told.status, codeOf(refused)]).toEqual([403, 'cap_exceeded']);
    expect(refused.told.json.error).toMatch(/cap is 5 US dollars, with 0\.034484 US dollars left/);
    expect(codeOf(await pay(client, left))).toBe('200');
    expect([await carriedOut(), await spending(client)]).toEqual(['5.000000', '10.000000']);
  });

  it('are not exceeded by two proxies that decide concurrently', async () => {
    const client = await newClient({ daily_cap_usd: '1' });
    const usd = new Decimal('0.6');
    const both = () => Promise.all([0, 1].map((proxy) => pay(client, usd, proxy)));
    const paid = await meetAtIntent(database, 2, both);
    expect(paid.map(codeOf).sort()).toEqual(['200', 'cap_exceeded']);
    expect([await carriedOut(), await spending(client)]).toEqual(['0.600000', '0.600000']);
  });

  it('equal the completed payouts, and reject only excess ones', async () => {
    const random = randomAmounts(SEED);
    const cap = '12.123457'; // each asks for about 20
    const capped: CappedClient[] = [];
    for (let count = 0; count < 5; count += 1) capped.push(await newClient({ daily_cap_usd: cap }));
    const paid = await payAll((connection) => ({
      client: capped[connection % capped.length] as CappedClient,
      amounts: [random(), random()],
    }));
    expect(new Set(paid.map(codeOf))).toEqual(new Set(['200', 'cap_exceeded']));
    expect(await carriedOut()).toBe(sum(amountsOf(paid, '200')).toFixed(6));
    for (const client of capped) {
      const own = paid.filter(({ clientId }) => clientId === client.id);
      const spent = sum(amountsOf(own, '200'));
      expect(await spending(client)).toBe(spent.toFixed(6));
      expect(spent.lte(cap)).toBe(true);
      // No amount was returned meanwhile, so the remainder did not grow after the refusal.
      const smallest = Decimal.min(...amountsOf(own, 'cap_exceeded'));
      expect(spent.plus(smallest).gt(cap)).toBe(true);
    }
  });

  it('release unsent amounts to the last digit, and keep those in doubt', async () => {
    const random = randomAmounts(SEED + 1);
    const client = await newClient({ daily_cap_usd: '1000', monthly_cap_usd: '1000' });
    const operation = 'POST /payouts/airtime';
    const phase = () => payAll(() => ({ client, amounts: [random()] }));
    await sandbox.fault({ fault: 'tooManyRequests', operation, probability: 0.4, seed: 7 });
    await sandbox.fault({ fault: 'error502Html', operation, probability: 0.4, seed: 8 });
    await sandbox.fault({ fault: 'error500AfterProcessing', operation, probability: 0.4, seed: 9 });
    const mixed = await phase();
    await sandbox.control('delete', '/faults').expect(204);
    await upstream.refuse();
    const unsent = await phase();
    await upstream.accept();
    expect(new Set(mixed.map(codeOf))).toEqual(new Set(['200', '500', 'outcome_unknown', 'upstream_busy']));
    expect(new Set(unsent.map(codeOf))).toEqual(new Set(['upstream_unreachable']));
    const paid = sum(amountsOf(mixed, '200', '500', 'outcome_unknown'));
    const kept = paid.plus(sum(amountsOf(mixed, 'upstream_busy')));
    expect([await carriedOut(), await spending(client)]).toEqual([paid.toFixed(6), kept.toFixed(6)]);
  });

  it('allow released amounts to be spent once, but not those in doubt', async () => {
    const client = await newClient({ daily_cap_usd: '1' });
    const [part, rest, least] = ['0.4', '0.6', '0.000001'].map((text) => new Decimal(text)) as [
      Decimal,
      Decimal,
      Decimal,
    ];
    expect(codeOf(await pay(client, part))).toBe('200');
    await upstream.refuse();
    expect(codeOf(await pay(client, rest))).toBe('upstream_unreachable');
    await upstream.accept();
    await sandbox.fault({ fault: 'error502Html', nth: 1, processed: false });
    expect(codeOf(await pay(client, rest))).toBe('outcome_unknown');
    expect(codeOf(await pay(client, least, 1))).toBe('cap_exceeded');
    expect(await spending(client)).toBe('1.000000');
  });

  it('are never exceeded for any observer under concurrent payments', async () => {
    const client = await newClient({ daily_cap_usd: '3' });
    await database.query(
      `ALTER TABLE spending ADD CONSTRAINT under_cap CHECK (client_id <> '${client.id}' OR usd <= 3)`,
    );
    const random = randomAmounts(SEED + 2);
    await sandbox.fault({ fault: 'tooManyRequests', probability: 0.5, seed: 9 });
    const paid = await payAll(() => ({ client, amounts: [random(), random()] }));
    await database.query('ALTER TABLE spending DROP CONSTRAINT under_cap');
    // the constraint broke nothing
    expect(new Set(paid.map(codeOf))).toEqual(new Set(['200', 'upstream_busy', 'cap_exceeded']));
    const [done, kept] = [amountsOf(paid, '200'), amountsOf(paid, '200', 'upstream_busy')].map((amounts) =>
      sum(amounts).toFixed(6),
    );
    expect([await carriedOut(), await spending(client)]).toEqual([done, kept]);
  });
});

/** Amounts from 0.000001 to 2 US dollars in whole millionths, the same for a seed (mulberry32). */
function randomAmounts(seed: number): () => Decimal {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const unit = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    return new Decimal(1 + Math.floor(unit * 2_000_000)).div(1_000_000);
  };
}
