import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { eventually } from '../../support/payments/paying';
import { AIRTIME, airtime, API_KEY, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

/** Each could delay the stop by seconds: an idle connection, a hanging one, a delay, late work. */
describe('a stop of the sandbox', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;

  beforeEach(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox({}, database);
  });
  afterEach(() => database.close());

  /** Ground truth after the stop. */
  const truthAfter = async () => {
    const next = await startSandbox({}, database);
    const truth = { requests: await next.requests(AIRTIME), balance: await next.balance('airtime') };
    await next.close();
    return truth;
  };

  it('ends a connection of noResponse without an answer, and keeps the payout', async () => {
    await sandbox.fault({ fault: 'noResponse', operation: AIRTIME });
    const heard = sandbox.hear('/payouts/airtime', airtime(10));
    await eventually(async () => (await sandbox.requests(AIRTIME))[0]?.processed === true);
    await sandbox.close();
    expect(await heard).toMatchObject({ text: '' });
    expect(await truthAfter()).toMatchObject({
      balance: 9_990,
      requests: [{ processed: true, httpStatus: null }],
    });
  });

  it('ends a connection of an unprocessed noResponse', async () => {
    await sandbox.fault({ fault: 'noResponse', operation: AIRTIME, processed: false });
    const heard = sandbox.hear('/payouts/airtime', airtime(10));
    await eventually(async () => (await sandbox.requests(AIRTIME)).length === 1);
    await sandbox.close();
    expect(await heard).toMatchObject({ text: '' });
    expect(await truthAfter()).toMatchObject({
      balance: 10_000,
      requests: [{ processed: false, answeredAt: null }],
    });
  });

  it('answers delayed requests, and executes late ones', async () => {
    await sandbox.fault({ fault: 'delay', ms: 600_000, operation: AIRTIME, nth: 1 });
    await sandbox.fault({ fault: 'lateProcessing', ms: 600_000, operation: AIRTIME, nth: 2 });
    const delayed = sandbox.hear('/payouts/airtime', airtime(10));
    await eventually(async () => (await sandbox.requests(AIRTIME)).length === 1);
    await sandbox.post('/payouts/airtime', airtime(5)).expect(503);
    await sandbox.close();
    expect((await delayed).text).toMatch(/^HTTP\/1.1 200 /);
    expect(await truthAfter()).toMatchObject({
      balance: 9_985,
      requests: [
        { fault: 'delay', processed: true, httpStatus: 200 },
        { fault: 'lateProcessing', processed: true, httpStatus: 503 },
      ],
    });
  });

  it('discards work that was due before a reset', async () => {
    await sandbox.fault({ fault: 'lateProcessing', ms: 600_000 });
    await sandbox.post('/payouts/airtime', airtime(10)).expect(503);
    await sandbox.control('post', '/reset').expect(204);
    await sandbox.close();
    expect(await truthAfter()).toEqual({ balance: 10_000, requests: [] });
  });

  it('does not wait for idle kept-alive connections', async () => {
    const response = await fetch(`${sandbox.url}/api/v0.1/nothing`); // fetch keeps its connections open
    await response.text();
    await sandbox.close();
    await expect(fetch(sandbox.url)).rejects.toThrow();
  });

  it('ends a kept-alive connection after its answer', async () => {
    await sandbox.fault({ fault: 'slowBody', ms: 600_000, operation: AIRTIME });
    const response = await fetch(`${sandbox.url}/api/v0.1/payouts/airtime`, {
      method: 'POST',
      headers: { 'X-API-Key': API_KEY },
      body: JSON.stringify(airtime(10)),
    });
    const stopped = sandbox.close(); // the sent header announced keep-alive
    expect(await response.json()).toMatchObject({ status: 'success' });
    await stopped;
  });
});
