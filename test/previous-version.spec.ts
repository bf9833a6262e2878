import { randomUUID } from 'node:crypto';
import { newSigningKey } from '../src/history/log/note';
import { Secret } from '../src/platform/config/secret';
import { removeDataDir } from './support/data-dir';
import { eventually, phones } from './support/paying';
import { envOf, newDataDir, Product } from './support/process';
import { startProxyWithSandbox, TestProxy, UPSTREAM_KEY } from './support/proxy';
import { reconcile, untilNow } from './support/reconciling';
import { ReleasedProgram, unpackReleased } from './support/released-program';
import supertest from './support/supertest';

/**
 * The last released program on the schema of this commit, beside a proxy of this commit, as during a rolling upgrade. It
 * shows that the statements of these flows work. It does not show that flows that are not here do.
 */
describe('the last released program on the schema of this commit', () => {
  const signingKey = newSigningKey('test');
  const dataDir = newDataDir();
  let released: ReleasedProgram;
  let current: TestProxy;
  let old: Product;
  let oldUrl: string;
  let app: { name: string; key: string };
  let operator: { key: string };
  let approver: { key: string };

  const pay = (url: string, phoneNumber: string, key: string = randomUUID(), valueInUSD = 2) =>
    supertest(url)
      .post('/api/v0.1/payouts/airtime')
      .set({ 'X-API-Key': app.key, 'Idempotency-Key': key })
      .send({ airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }] });
  const as = (key: string) => ({ 'X-API-Key': key });

  beforeAll(async () => {
    released = unpackReleased();
    current = await startProxyWithSandbox({ checkCoverage: false, logSigningKey: new Secret(signingKey) });
    app = await current.client('app', 'pay', 'write', 'read', 'account');
    operator = await current.client('operator', 'admin', 'audit', 'reconcile');
    approver = await current.client('approver', 'approve');
    const env = {
      ...envOf(current.database),
      UPSTREAM_BASE_URL: (current as TestProxy & { sandbox: { url: string } }).sandbox.url,
      UPSTREAM_API_KEY: UPSTREAM_KEY,
      LOG_SIGNING_KEY: signingKey,
      LOG_LEVEL: 'error',
      DATA_DIR: dataDir,
    };
    new Product(released.worker, [], env, dataDir);
    old = new Product(released.main, [], env, dataDir);
    [, oldUrl = ''] = await old.said(/payout-proxy is ready\s+(http\S+)/);
  });
  afterAll(async () => {
    await old?.signal('SIGTERM');
    await current.close();
    removeDataDir(dataDir);
    removeDataDir(released.directory);
  });

  it('pays once per key, whichever version is asked first', async () => {
    for (const [index, [one, other]] of [
      [oldUrl, current.url],
      [current.url, oldUrl],
    ].entries()) {
      const phone = phones(4)[index] ?? '';
      const key = randomUUID();
      const paid = await pay(one ?? '', phone, key).expect(200);
      const replayed = await pay(other ?? '', phone, key).expect(200);
      expect(replayed.headers['idempotent-replayed']).toBe('true');
      expect(replayed.text).toBe(paid.text);
    }
  });

  it('shares caps, stops and approvals with this one', async () => {
    const [, , third = '', fourth = ''] = phones(4);
    await supertest(oldUrl)
      .patch(`/v1/clients/${app.name}`)
      .set(as(operator.key))
      .send({ daily_cap_usd: '7', reason: 'x' })
      .expect(200);
    expect((await pay(current.url, third, randomUUID(), 4)).status).toBe(403);
    expect((await pay(oldUrl, third, randomUUID(), 4)).status).toBe(403);
    const { body } = await supertest(oldUrl)
      .post('/v1/stops')
      .set(as(operator.key))
      .send({ everything: true, reason: 'x' })
      .expect(201);
    expect((await pay(current.url, third)).status).toBe(503);
    await supertest(current.url).delete(`/v1/stops/${body.id}`).set(as(operator.key)).expect(200);
    await current.database.query('UPDATE client SET approval_over_usd = 2, daily_cap_usd = 100');
    const held = await pay(current.url, fourth, randomUUID(), 3).expect(202);
    const id = held.headers['x-call-id'] ?? '';
    await supertest(oldUrl).post(`/v1/approvals/${id}/approve`).set(as(approver.key)).send({ reason: 'x' }).expect(200);
  });

  it('finds, seals and reconciles the calls of both', async () => {
    const read = async (url: string) =>
      (await supertest(url).get('/v1/audit/calls?operation=POST%20/payouts/airtime').set(as(operator.key)).expect(200))
        .body.calls;
    expect(await read(oldUrl)).toEqual(await read(current.url));
    await eventually(async () => (await current.database.query('SELECT FROM checkpoint WHERE size > 8')).length > 0);
    const run = await reconcile({ url: oldUrl, key: operator.key }, untilNow());
    expect(run).toMatchObject({ state: 'ended', failure: null });
  });

  it('answers everything without an error of its own', () => {
    expect(old.stderr + old.stdout.replace(/^.*✓.*$/gm, '')).not.toMatch(/"level":(50|60)|error/i);
  });
});
