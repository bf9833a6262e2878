import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restoreFromCopies } from '../src/journal/recovery';
import { PrismaService } from '../src/platform/database/prisma.service';
import { answer, FakeUpstream } from './support/fake-upstream';
import { AIRTIME, eventually } from './support/paying';
import { startProxy, TestProxy } from './support/proxy';
import { tamper } from './support/sealing';

/** Calls that a database had lost, restored from copies while some of what belongs to them is there. */
describe('a call that is restored after its outcome', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-recovered-'));
  let upstream: FakeUpstream;
  let proxy: TestProxy;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    upstream.behaviour = answer(403, { error: 'forbidden' });
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dataDir });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const copied = () => {
    const folder = join(dataDir, 'copies');
    if (!existsSync(folder)) return '';
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('');
  };

  it('counts what the outcome gave back', async () => {
    const { key } = await proxy.client('app', 'pay');
    await proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1').expect(502);
    await eventually(() => copied().includes('"kind":"outcome"'));
    // A process that was sending it wrote its outcome to the older database.
    for (const table of ['intent', 'intent_body', 'idempotency_claim', 'spending'])
      await tamper(proxy.database, `DELETE FROM ${table}`);
    const recovered = await restoreFromCopies(proxy.app.get(PrismaService), [dataDir]);
    expect(recovered).toEqual({ calls: 1, outcomes: 0, approvals: 0, unreadable: 0 });
    expect(await proxy.database.query('SELECT usd::float8 AS usd FROM spending')).toEqual([{ usd: 0 }]);
  });
});
