import { Decimal } from 'decimal.js';
import { mint } from '../../support/access/minting';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { ask } from '../../support/processes/fleet';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../../support/processes/proxy';
import { airtime, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

const PAYMENTS = 50;

/** The total is never exceeded, and every payment under it is sent. */
describe('the total of an ephemeral key under fifty concurrent payments on two proxies', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let proxies: TestProxy[];
  let secret: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({ apiKey: UPSTREAM_KEY }, database);
    proxies = [];
    while (proxies.length < 2) proxies.push(await startProxy({ upstreamBaseUrl: sandbox.url }, database));
    secret = (await (proxies[0] as TestProxy).client('app', 'pay')).key;
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close();
    await sandbox?.close();
    await database?.close();
  });

  async function payAll(key: string, usd: number) {
    const payment = { key, body: airtime(usd) };
    const answers = await Promise.all(
      Array.from({ length: PAYMENTS }, (_, index) => ask(proxies[index % 2]?.url ?? '', payment)),
    );
    const spent = await database.query(
      `SELECT coalesce(sum(p.usd), 0)::text AS usd FROM payer_spending p
        JOIN ephemeral_key e ON e.id = p.payer_id WHERE e.sha256 = sha256($1::text::bytea)`,
      [key],
    );
    return { answers, spent: new Decimal(String(spent[0]?.usd)) };
  }

  it('admits exactly the payments that fit', async () => {
    const { key } = await mint(proxies[0] as TestProxy, secret, { max_total: '12.5', max_item: '1.25' });
    const { answers, spent } = await payAll(key, 1.25);
    expect(answers.filter(({ status }) => status === 200).length).toBe(10);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, json }) => `${status} ${String(json.code)}`))).toEqual(
      new Set(['403 cap_exceeded']),
    );
    expect(String(refused[0]?.json.error)).toMatch(/ephemeral key/);
    expect(spent.toFixed()).toBe('12.5');
  });

  it('refuses none if all fit', async () => {
    const { key } = await mint(proxies[0] as TestProxy, secret, { max_total: '50', max_item: '1' });
    const { answers, spent } = await payAll(key, 1);
    expect(answers.map(({ status }) => status)).toEqual(Array(PAYMENTS).fill(200));
    expect(spent.toFixed()).toBe('50');
  });
});
