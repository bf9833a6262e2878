import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { newSigningKey } from '../../../src/history/log/note';
import { unexplainedHash } from '../../../src/journal/reconciliation/unexplained-payments';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { OldPostgres, startOldPostgres } from '../../support/databases/old-postgres';
import supertest from '../../support/http/supertest';
import { eventually } from '../../support/payments/paying';
import { runCli } from '../../support/processes/cli';
import { envOf } from '../../support/processes/process';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { ended } from '../../support/reconciliation/reconciliation-scene';
import { airtime, API_KEY, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

/** Recipient and amount of the lost payment. */
const [ADA, USD] = ['+254712345678', 2];
const BOB = '+254712345679';
const LOG_SIGNING_KEY = newSigningKey('test');

/** A payment is lost with its copies. Only the upstream lists it. */
describe('a payment missing from every copy', () => {
  let postgres: OldPostgres;
  let sandbox: TestSandbox;
  let proxy: TestProxy;
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-lost-'));
  const keys = { app: '', other: '', careful: '', admin: '', approver: '', reconciler: '' };
  /** A pending call in the backup, equal to the lost payment. */
  let pending = '';
  const recovered = { run_id: '', stop_id: '', lost_from: '', lost_to: '', epoch: 0 };

  const start = () =>
    startProxy(
      {
        upstreamBaseUrl: sandbox.url,
        upstreamApiKey: new Secret(API_KEY),
        dataDir,
        logSigningKey: new Secret(LOG_SIGNING_KEY),
      },
      postgres.database,
    );
  const pay = (order: string, [phone, usd] = [ADA, USD], as = keys.app) =>
    proxy.post(as, '/payouts/airtime', airtime(usd, phone)).set('Idempotency-Key', order);
  const cli = (...args: string[]) => {
    const settings = { ...envOf(postgres.database), DATA_DIR: dataDir, LOG_SIGNING_KEY };
    return runCli([...args, '--json'], settings, dataDir);
  };
  const recover = async () => {
    const { code, stdout, stderr } = await cli(
      'database',
      'recover',
      '--reason',
      'all copies are lost',
      '--yes',
    );
    expect([code, stderr]).toEqual([0, '']);
    Object.assign(recovered, JSON.parse(stdout) as object);
  };
  const lift = (query = '') =>
    supertest(proxy.url).delete(`/v1/stops/${recovered.stop_id}${query}`).set('X-API-Key', keys.admin);
  const approve = () =>
    supertest(proxy.url)
      .post(`/v1/approvals/${pending}/approve`)
      .set('X-API-Key', keys.approver)
      .send({ reason: 'agreed' });
  const arrivals = async () => (await sandbox.requests('POST /payouts/airtime')).length;
  const unexplained = () =>
    postgres.database.query('SELECT finding_id::text AS id, usd::float8 AS usd FROM unexplained_payment');
  const run = () => ended({ url: proxy.url, key: keys.reconciler }, recovered.run_id);

  beforeAll(async () => {
    [postgres, sandbox] = await Promise.all([startOldPostgres(), startSandbox()]);
    proxy = await start();
    for (const [name, ...scopes] of [
      ['app', 'pay'],
      ['other', 'pay'],
      ['careful', 'pay'],
      ['admin', 'admin'],
      ['approver', 'approve'],
      ['reconciler', 'reconcile'],
    ] as const) {
      keys[name] = (await proxy.client(name, ...scopes)).key;
    }
    await pay('before', [BOB, 1]).expect(200);
    await postgres.database.query(`UPDATE client SET approval_over_usd = 1 WHERE name = 'careful'`);
    pending = (await pay('pending', [ADA, USD], keys.careful).expect(202)).headers['x-call-id'] ?? '';
    await postgres.backUp();
    await eventually(async () => (await pay('lost')).status === 200);
    const beat = () =>
      (JSON.parse(readFileSync(join(dataDir, 'epoch.json'), 'utf8')) as { beat: string }).beat;
    const seen = beat();
    await eventually(() => Number(beat()) > Number(seen));
    await proxy.close();
    rmSync(join(dataDir, 'copies'), { recursive: true });
    await postgres.restore();
    proxy = await start();
    await eventually(
      async () => (await proxy.get(keys.admin, '/v1/stops').expect(200)).body.stops.length === 1,
    );
  });
  afterAll(async () => {
    await proxy.close();
    await sandbox.close();
    await postgres.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('keeps everything stopped until a run has read the period of possible loss', async () => {
    await recover();
    expect(recovered).toMatchObject({ calls: 0, epoch: 2, stop_id: expect.any(String) as string });
    const { body } = await lift().expect(409);
    expect(body.code).toBe('recovery_required');
    expect(body.detail).toContain(`The reconciliation run ${recovered.run_id} reads them`);
    const refused = await cli('stop', 'lift', recovered.stop_id);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(recovered.run_id)]);
    await lift('?unreconciled=yes').expect(400);
    const first = recovered.run_id;
    await recover(); // it can be repeated, each time with a new run
    expect(recovered.run_id).not.toBe(first);
    expect((await lift().expect(409)).body.detail).toContain(recovered.run_id);

    await proxy.startWorker();
    expect(await run()).toMatchObject({
      result: 'findings',
      from: recovered.lost_from,
      to: recovered.lost_to,
    });
    expect((await lift().expect(200)).body).toMatchObject({ unreconciled: false });
    await eventually(() => proxy.app.get(FenceService).reasons.length === 0);
    expect(await unexplained()).toMatchObject([{ usd: USD }]);
  });

  it('is not paid again by a retry with any key, nor by another client', async () => {
    const preview = await supertest(proxy.url)
      .post('/v1/preview/payouts/airtime')
      .set('X-API-Key', keys.app)
      .send(airtime(USD, ADA))
      .expect(200);
    expect(preview.body.approval).toMatchObject({ reason: 'unexplained_payment' });
    const calls: string[] = [];
    for (const [order, as] of [
      ['lost', keys.app],
      ['lost-again', keys.app],
      ['of-another-client', keys.other],
    ] as const) {
      const { headers } = await pay(order, [ADA, USD], as).expect(202);
      calls.push(headers['x-call-id'] ?? '');
    }
    expect(await arrivals()).toBe(2);
    const { body } = await proxy.get(keys.approver, `/v1/approvals/${calls[0]}`).expect(200);
    const [{ transaction } = {}] = await postgres.database.query<{ transaction: string }>(
      `SELECT upstream_ref AS transaction FROM finding WHERE category = 'missing_local'`,
    );
    expect(body.approval).toMatchObject({
      held_for: 'unexplained_payment',
      unexplained_transaction: transaction,
    });
  });

  it('is not paid again by an approval of a call that was pending in the backup', async () => {
    const { body } = await approve().expect(409);
    expect(body.code).toBe('suspected_duplicate');
    const [{ transaction } = {}] = await postgres.database.query<{ transaction: string }>(
      `SELECT upstream_ref AS transaction FROM finding WHERE category = 'missing_local'`,
    );
    expect(body.detail).toContain(`transaction ${transaction}`);
    expect(await arrivals()).toBe(2);
    const { body: approval } = await proxy.get(keys.approver, `/v1/approvals/${pending}`).expect(200);
    expect(approval.approval).toMatchObject({ status: 'pending' });
  });

  it('does not delay unrelated payments', async () => {
    for (const [order, to] of [
      ['another-amount', [ADA, 3]],
      ['another-recipient', [BOB, USD]],
    ] as const) {
      await pay(order, [...to]).expect(200);
    }
    expect(await arrivals()).toBe(4);
  });

  it('is blocked while its finding is open', async () => {
    const [{ id: findingId } = {}] = await unexplained();
    const decisions = [{ finding_id: findingId, state: 'explained', reason: 'the app knows of it' }];
    await supertest(proxy.url)
      .post('/v1/reconciliation/findings/decisions')
      .set('X-API-Key', keys.reconciler)
      .send({ decisions })
      .expect(200);
    expect(await unexplained()).toEqual([]);
    await pay('wanted', [ADA, USD], keys.other).expect(200);
    await approve().expect(200);
    expect(await arrivals()).toBe(6);
  });

  it('is forgotten with an erasure of its recipient', async () => {
    for (const phone of [ADA, BOB])
      await postgres.database.query(
        'INSERT INTO unexplained_payment (recipient, finding_id, usd, tolerance_usd) SELECT $1, id, 2, 0 ' +
          'FROM finding LIMIT 1',
        [unexplainedHash(phone)],
      );
    const erased = await cli('audit', 'erase', '--recipient', ADA, '--reason', 'case 17', '--yes');
    expect([erased.code, erased.stderr]).toEqual([2, '']); // some calls are unfinished
    const left = await postgres.database.query<{ recipient: Buffer }>(
      'SELECT recipient FROM unexplained_payment',
    );
    expect(left.map(({ recipient }) => recipient.equals(unexplainedHash(BOB)))).toEqual([true]);
  });

  it('is left to the person who lifts the stop without a run', async () => {
    await postgres.database.query(
      `INSERT INTO stop (id, reason, cause, epoch)
        SELECT gen_random_uuid(), 'it lacks 1 commit', 'database_behind', max(number) FROM epoch`,
    );
    await lift('?unreconciled=true').expect(404); // the previous stop was lifted
    sandbox.behaviour.lists.transactions.newest = 0;
    await recover();
    expect((await run()).totals?.incomplete[0]).toMatchObject({ reason: 'listing_empty' });
    expect((await lift().expect(409)).body.detail).toContain('could not read');
    const { code, stdout } = await cli('stop', 'lift', recovered.stop_id, '--unreconciled');
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ unreconciled: true })]);
  });
});
