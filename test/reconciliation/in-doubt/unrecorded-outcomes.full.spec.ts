import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpaceService } from '../../../src/continuity/space/space.service';
import { MetricsService } from '../../../src/http/metrics/metrics.service';
import { Cause, causeOfFile } from '../../../src/platform/storage/failures';
import { StorageService } from '../../../src/platform/storage/storage.service';
import { hang, reset, succeed } from '../../support/network/fake-upstream';
import { airtime, eventually, PaymentScene, PHONE, startPaying } from '../../support/payments/paying';
import { tamper } from '../../support/records/sealing';

/** Returns the value of a metric. Undefined if it is absent. */
async function metric(url: string, name: string): Promise<number | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length));
}

describe('a call whose outcome cannot be recorded', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-unrecorded-'));
  let paying: PaymentScene;

  beforeAll(async () => {
    paying = await startPaying({ dataDir, upstreamTimeoutMs: 60_000 });
  });
  afterAll(async () => {
    await paying.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const query = (sql: string, values?: unknown[]) => paying.proxy.database.query(sql, values);
  const pay = (key: string) =>
    paying.proxy.post(paying.app, '/payouts/airtime', airtime(PHONE)).set('Idempotency-Key', key);
  const inDoubt = () => metric(paying.proxy.url, 'payout_proxy_unrecorded_outcomes');

  it('is in doubt for a repetition, counts at once, and is replayed once it is recorded', async () => {
    paying.upstream.behaviour = succeed;
    expect(await inDoubt()).toBe(0);
    await query('REVOKE INSERT ON outcome FROM payout_proxy');
    const first = pay('order-1').then((told) => told); // waits for the record of the outcome
    await eventually(async () => (await inDoubt()) === 1);
    const [{ id } = { id: '' }] = (await query('SELECT id FROM intent')) as { id: string }[];
    const repeated = await pay('order-1');
    expect([repeated.status, repeated.body.code]).toEqual([409, 'outcome_unknown']);
    expect(repeated.body).toMatchObject({
      action: 'wait',
      first_call_id: id,
      error: expect.stringContaining('is known'),
    });
    await query('GRANT INSERT ON outcome TO payout_proxy');
    await first;
    await eventually(async () => (await inDoubt()) === 0);
    const replay = await pay('order-1').expect(200);
    expect([replay.headers['idempotent-replayed'], paying.upstream.received.length]).toEqual(['true', 1]);
  });

  it('stays in memory while DATA_DIR is not writable either', async () => {
    rmSync(join(dataDir, 'outcomes'), { recursive: true, force: true });
    writeFileSync(join(dataDir, 'outcomes'), 'a file where the folder should be');
    paying.upstream.behaviour = succeed;
    await query('REVOKE INSERT ON outcome FROM payout_proxy');
    const { headers } = await pay('order-3').expect(502);
    expect([await inDoubt(), await metric(paying.proxy.url, 'payout_proxy_spooled_outcomes')]).toEqual([
      1, 0,
    ]);
    await query('GRANT INSERT ON outcome TO payout_proxy');
    await eventually(async () => (await inDoubt()) === 0);
    const recorded = await query('SELECT kind FROM outcome WHERE intent_id = $1', [headers['x-call-id']]);
    expect(recorded).toEqual([{ kind: 'succeeded' }]);
    rmSync(join(dataDir, 'outcomes'));
  });

  it('is in doubt after its deadline, and the wait grows with its age', async () => {
    paying.upstream.behaviour = hang;
    const before = paying.upstream.received.length;
    void pay('order-2').then(
      () => undefined,
      () => undefined,
    ); // never ends
    await eventually(() => paying.upstream.received.length === before + 1);
    expect((await pay('order-2')).body.code).toBe('request_in_progress');
    const waits: number[] = [];
    for (const age of [70, 90, 3_600]) {
      await tamper(
        paying.proxy.database,
        `UPDATE intent SET recorded_at = clock_timestamp() - interval '${age} s'
         WHERE id = (SELECT intent_id FROM idempotency_claim WHERE key = 'order-2')`,
      );
      const { status, body, headers } = await pay('order-2');
      expect([status, body.code, body.action]).toEqual([409, 'outcome_unknown', 'wait']);
      waits.push(Number(headers['retry-after']));
    }
    const [early = 0, later = 0, last] = waits;
    expect(early).toBeGreaterThanOrEqual(35);
    expect(later).toBeGreaterThan(early);
    expect(last).toBe(60);
  });
});

describe('the metric of calls in doubt', () => {
  it('is absent while the database cannot be read, and never stale', async () => {
    const paying = await startPaying({ resolverEverySeconds: 1 });
    paying.upstream.behaviour = reset;
    await paying.pay().expect(502);
    const worker = await paying.proxy.startWorker();
    const told = async () => {
      const { body } = await worker.get(MetricsService, { strict: false }).text();
      return /^payout_proxy_calls_in_doubt\{age="under_an_hour"\} (\d+)$/m.exec(body)?.[1];
    };
    await eventually(async () => (await told()) === '1');
    await paying.proxy.database.query('ALTER TABLE intent RENAME TO elsewhere');
    await eventually(async () => (await told()) === undefined);
    await paying.proxy.database.query('ALTER TABLE elsewhere RENAME TO intent');
    await eventually(async () => (await told()) === '1');
    await paying.close();
  });
});

describe('a full DATA_DIR', () => {
  it('stops admission below the floor, before a write fails, and resumes it above', async () => {
    const paying = await startPaying({ minFreeBytes: Number.MAX_SAFE_INTEGER });
    const { app, url } = paying.proxy;
    const { status, body, headers } = await paying.pay();
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'storage_full', '30']);
    expect(paying.upstream.received).toEqual([]);
    expect(await paying.proxy.database.query('SELECT FROM intent')).toEqual([]);
    await paying.proxy.get(paying.auditor, '/v1/audit/calls').expect(200);
    expect(await metric(url, 'payout_proxy_storage_failing{place="data_dir",cause="disk_full"}')).toBe(1);
    const space = app.get(SpaceService, { strict: false });
    expect(space.freeBytes.map(({ place }) => place)).toEqual(['data_dir']);
    Object.assign((space as unknown as { settings: object }).settings, { minFreeBytes: 0 });
    await eventually(async () => (await paying.pay()).status === 200);
    await paying.close();
  });

  it.each(['ENOSPC', 'EROFS', 'EIO'])(
    'stops admission after a file failed with %s, until a write succeeds',
    async (code) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-failing-'));
      const probe = join(dataDir, 'space-probe');
      mkdirSync(probe); // a folder at the path of the file
      const paying = await startPaying({ dataDir });
      const storage = paying.proxy.app.get(StorageService, { strict: false });
      storage.note('data_dir', causeOfFile(Object.assign(new Error('a message'), { code })) as Cause);
      const refused = await paying.pay();
      expect([refused.status, refused.body.code]).toEqual([
        503,
        code === 'ENOSPC' ? 'storage_full' : 'storage_failing',
      ]);
      rmdirSync(probe);
      await eventually(async () => (await paying.pay()).status === 200);
      await paying.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  );
});
