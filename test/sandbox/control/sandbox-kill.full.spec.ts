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

    // Each payment has a different amount, which identifies it. Each payer pays until the sandbox is gone.
    let sent = 0;
    const answered: number[] = [];
    const payOn = async () => {
      for (;;) {
        const usd = ++sent / 100;
        const headers = { 'X-API-Key': API_KEY };
        const body = JSON.stringify(airtime(usd));
        const response = await fetch(`${url}/api/v0.1/payouts/airtime`, { method: 'POST', headers, body });
        expect(response.status).toBe(200);
        if (answered.push(usd) === 40) void process.signal('SIGKILL');
      }
    };
    await Promise.allSettled(Array.from({ length: 20 }, payOn));
    await process.exit;
    expect(answered.length).toBeGreaterThanOrEqual(40);

    const restarted = await startSandbox({}, database);
    const truth = await restarted.requests(AIRTIME);
    const usdOf = (body: unknown) => first((body as ReturnType<typeof airtime>).airtimes).valueInUSD;
    const processed = truth.filter((request) => request.processed).map(({ body }) => usdOf(body));
    expect(processed).toEqual(expect.arrayContaining(answered));
    const spent = processed.reduce((sum, usd) => sum + usd, 0);
    expect(await restarted.balance('airtime')).toBeCloseTo(10_000 - spent, 6);
    await restarted.close();
    await database.close();
  });
});
