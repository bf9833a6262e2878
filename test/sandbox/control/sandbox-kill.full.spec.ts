import { createTestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import { Product } from '../../support/processes/process';
import { AIRTIME, airtime, API_KEY, CONTROL_KEY, startSandbox } from '../../support/sandbox/sandbox';

/** Kills a sandbox process while it pays. */
describe('a killed sandbox', () => {
  it('keeps every request that arrived, and exactly the paid payouts', async () => {
    const database = await createTestDatabase();
    const env = {
      SANDBOX_DATABASE_URL: database.sandboxUrl,
      SANDBOX_PORT: '0',
      SANDBOX_API_KEY: API_KEY,
      SANDBOX_CONTROL_KEY: CONTROL_KEY,
    };
    const process = new Product('sandbox/main.js', [], env, '/');
    const [, url = ''] = await process.said(/sandbox listens on (http\S+)/);

    let paid = 0;
    const pay = async (usd: number) => {
      const headers = { 'X-API-Key': API_KEY };
      const body = JSON.stringify(airtime(usd));
      const response = await fetch(`${url}/api/v0.1/payouts/airtime`, { method: 'POST', headers, body });
      if (response.ok && ++paid === 20) void process.signal('SIGKILL');
      return usd;
    };
    // Each has a different amount, which identifies it.
    const answers = await Promise.allSettled(Array.from({ length: 60 }, (_, index) => pay(index + 1)));
    await process.exit;
    const answered = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(answered.length).toBeLessThan(60);

    const restarted = await startSandbox({}, database);
    const truth = await restarted.requests(AIRTIME);
    const usdOf = (body: unknown) => first((body as ReturnType<typeof airtime>).airtimes).valueInUSD;
    const processed = truth.filter((request) => request.processed).map(({ body }) => usdOf(body));
    expect(processed).toEqual(expect.arrayContaining(answered));
    const spent = processed.reduce((sum, usd) => sum + usd, 0);
    expect(await restarted.balance('airtime')).toBe(10_000 - spent);
    await restarted.close();
    await database.close();
  });
});
