import { INestApplicationContext, Logger } from '@nestjs/common';
import { MetricsService } from '../../../src/http/metrics/metrics.service';
import { createTestDatabase } from '../../support/databases/test-database';
import { eventually, PaymentScene, startPaying } from '../../support/payments/paying';
import { startProxy } from '../../support/processes/proxy';

let paying: PaymentScene;

let worker: INestApplicationContext;

beforeAll(async () => {
  paying = await startPaying();
  worker = await paying.proxy.startWorker();
});
afterAll(() => paying.close());
afterEach(() => jest.restoreAllMocks());

const query = (sql: string, values: unknown[] = []) => paying.proxy.database.query(sql, values);

async function metric(name: string, of = worker): Promise<number> {
  const { body: text } = await of.get(MetricsService, { strict: false }).text();
  return Number(new RegExp(`^payout_proxy_log_${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

const isSealed = async (call: string | undefined) =>
  (await query('SELECT FROM leaves_of($1)', [call])).length === 2;

/** The sealer in a running worker. */
describe('the sealer', () => {
  it('seals the records of a request soon, and counts them', async () => {
    const call = (await paying.pay().expect(200)).headers['x-call-id'];
    await eventually(() => isSealed(call));
    await eventually(async () => (await metric('leaves')) >= 2);
    expect(await metric('failing')).toBe(0);
    expect(await metric('lag_seconds')).toBeLessThan(10);
  });

  it('continues after a lost connection, without effect on other queries', async () => {
    const lost = await query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'payout-proxy sealer' AND datname = current_database()`,
    );
    expect(lost).toHaveLength(1);
    const call = (await paying.pay().expect(200)).headers['x-call-id'];
    await eventually(() => isSealed(call));
    await eventually(async () => (await metric('failing')) === 0);
  });

  it('logs that it may not assume its role, while requests are served', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const database = await createTestDatabase();
    const settings = { upstreamBaseUrl: paying.upstream.url, databaseSealerUrl: database.url };
    const proxy = await startProxy(settings, database);
    const failing = await proxy.startWorker();
    await eventually(async () => (await metric('failing', failing)) === 1);
    const { key } = await proxy.client('other', 'read');
    await proxy.get(key, '/api/v0.1/info/assets').expect(200);
    await proxy.close();
    await database.close();
    expect(warn.mock.calls.flat().join('\n')).toMatch(
      /No login of the proxy can become payout_sealer\. .* DATABASE_SEALER_URL/,
    );
  });

  it('refuses to extend a changed log and logs instructions, while requests are served', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    await query('SET session_replication_role = replica');
    await query(
      `UPDATE log_leaves SET hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) WHERE first = 0`,
    );
    await query('RESET session_replication_role');
    const call = (await paying.pay().expect(200)).headers['x-call-id'];
    await eventually(async () => (await metric('failing')) === 1);
    expect(error.mock.calls).toEqual([
      [expect.stringMatching(/^the log does not match its signature: .* Run audit verify /)],
    ]);
    expect(await isSealed(call)).toBe(false);
    await eventually(async () => (await metric('lag_seconds')) > 0);
  });
});
