import { readUnread, beginEpoch } from '../../../src/journal/stops/recovery-gap';
import { insertStopOfAll } from '../../../src/journal/stops/stops';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { startProxy, TestProxy } from '../../support/processes/proxy';

describe('the recovery gap', () => {
  let proxy: TestProxy;
  let prisma: PrismaService;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9' });
    prisma = proxy.app.get(PrismaService, { strict: false });
  });
  afterAll(() => proxy.close());

  const end = (runId: string | null, result: string) =>
    proxy.database.query('INSERT INTO reconciliation_run_end (run_id, result, totals) VALUES ($1, $2, $3)', [
      runId,
      result,
      '{}',
    ]);

  it('is covered by the list of each account before its stop is lifted', async () => {
    const { id: stop } = await insertStopOfAll(prisma, 'a test');
    const reading = { settings: {}, since: null, accounts: ['main', 'kenya'] };
    const { lost } = await beginEpoch(prisma, { reason: 'a test', actor: null, seen: 1, reading });
    const [kenya = '', ...more] = lost?.otherRuns ?? [];
    expect(more).toEqual([]);
    expect(await readUnread(prisma, stop)).toMatchObject({ account: 'kenya', runId: kenya, result: null });
    await end(kenya, 'clean');
    expect(await readUnread(prisma, stop)).toMatchObject({
      account: 'main',
      runId: lost?.runId,
      result: null,
    });
    await end(lost?.runId ?? '', 'clean');
    expect(await readUnread(prisma, stop)).toBeUndefined();
  });
});
