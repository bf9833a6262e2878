import { Client } from 'pg';
import { eventually } from '../../support/payments/paying';
import { AIRTIME, airtime, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

describe('a reset of the sandbox', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control('post', '/reset').expect(204));

  it('runs between requests in flight, never during one', async () => {
    const payOut = () => sandbox.post('/payouts/airtime', airtime(1)).then(({ status }) => status);
    const before = Array.from({ length: 20 }, payOut);
    await eventually(async () => (await sandbox.requests(AIRTIME)).some(({ processed }) => processed));

    // The reset waits for a table that these payouts do not need, so only the lock blocks them.
    const other = new Client({ connectionString: sandbox.own.sandboxUrl });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE due_changes IN ACCESS SHARE MODE');
    const reset = sandbox.control('post', '/reset').then(({ status }) => status);
    await eventually(async () => {
      const waiting = "SELECT FROM pg_locks WHERE relation = 'due_changes'::regclass AND NOT granted";
      return (await other.query(waiting)).rowCount === 1;
    });
    const during = Array.from({ length: 5 }, payOut);
    // Pages bypass the lock.
    for (let payments = 0; payments < 50; payments++) await sandbox.page('/pay?issueID=none').expect(404);
    await other.query('COMMIT');
    await other.end();

    expect(await reset).toBe(204);
    // 503: arrived before the reset, and not executed before it.
    expect(
      [...new Set(await Promise.all(before))].filter((status) => status !== 200 && status !== 503),
    ).toEqual([]);
    expect(await Promise.all(during)).toEqual(Array(during.length).fill(200));
    const paid = (await sandbox.requests(AIRTIME)).filter(({ processed }) => processed);
    expect(await sandbox.balance('airtime')).toBe(10_000 - paid.length);
  });

  it('is not delayed by slow or unanswered requests', async () => {
    await sandbox.fault({ fault: 'noResponse', operation: AIRTIME, nth: 1 });
    await sandbox.fault({ fault: 'delay', operation: AIRTIME, nth: 2, ms: 600_000 });
    void sandbox.hear('/payouts/airtime', airtime());
    await eventually(async () => (await sandbox.requests(AIRTIME)).length === 1);
    void sandbox.hear('/payouts/airtime', airtime());
    await eventually(async () => (await sandbox.requests(AIRTIME)).length === 2);
    await sandbox.control('post', '/reset').expect(204);
    expect(await sandbox.requests()).toEqual([]);
  });
});
