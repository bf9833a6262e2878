import { RunningConfig, loadConfig } from '../../../src/platform/config/config';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { RunReader } from '../../../src/reconciliation/runs/run-reader';
import { ScheduleService } from '../../../src/reconciliation/runs/runs.job';
import { RunsService } from '../../../src/reconciliation/runs/runs.service';
import { callOf } from '../../support/databases/old-calls';
import { holdRuns } from '../../support/payments/held-runs';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import {
  ProxyAccess,
  askForRun,
  ended,
  readRun,
  ReconciliationScene,
  startReconciling,
} from '../../support/reconciliation/reconciliation-scene';

// In the past, whenever these tests run.
const NOON = (day: number) => new Date(Date.UTC(2024, 2, day, 12));
const TICK = (day: number) => new Date(Date.UTC(2024, 2, day, 2));
const MIDNIGHT = (day: number) => new Date(Date.UTC(2024, 2, day));

describe('the reconciliation schedule', () => {
  let scene: ReconciliationScene;
  let asking: ProxyAccess;
  let other: TestProxy;

  beforeAll(async () => {
    scene = await startReconciling();
    asking = { url: scene.proxy.url, key: scene.reconciler };
    other = await startProxy({ upstreamBaseUrl: scene.sandbox.url }, scene.proxy.database);
  });
  afterAll(async () => {
    await other.close();
    await scene.close();
  });
  afterEach(() => jest.restoreAllMocks());

  const scheduled = (schedule: string): Pick<RunningConfig, 'reconciliation'> => ({
    reconciliation: { ...loadConfig({}).reconciliation, schedule },
  });
  /** The schedule of an instance, triggered by the test. */
  const of = ({ app }: TestProxy) =>
    new ScheduleService(
      { ...scheduled('0 2 * * *'), namedAccounts: [] } as unknown as RunningConfig,
      app.get(PrismaService, { strict: false }),
      app.get(RunReader, { strict: false }),
      app.get(RunsService, { strict: false }),
    );
  const runs = (dueAt?: Date) =>
    scene.proxy.database.query<{
      id: string;
      due_at: Date | null;
      from_at: Date;
      to_at: Date;
      client_id: string | null;
    }>(
      'SELECT id, due_at, from_at, to_at, client_id FROM reconciliation_run WHERE due_at = $1 OR $1 IS ' +
        'NULL ORDER BY id',
      [dueAt],
    );
  const endOf = async (dueAt: Date) => ended(asking, (await runs(dueAt))[0]?.id ?? '');

  it('starts nothing without a history at the scheduled time', async () => {
    await of(scene.proxy).checkAll(NOON(2));
    expect(await runs()).toEqual([]);
    await callOf(scene.proxy.database, '2024-03-01T12:00:00Z');
  });

  it('compares the previous day at a scheduled time, once, despite many instances and checks', async () => {
    await Promise.all([scene.proxy, other, scene.proxy, other].map((one) => of(one).checkAll(NOON(2))));
    await of(other).checkAll(NOON(2));
    const [run, ...more] = await runs();
    expect(more).toEqual([]);
    expect(run).toMatchObject({ due_at: TICK(2), from_at: MIDNIGHT(1), to_at: MIDNIGHT(2), client_id: null });
    expect(await endOf(TICK(2))).toMatchObject({
      state: 'ended',
      started_by: null,
      due_at: TICK(2).toISOString(),
    });
  });

  it('catches up on the newest missed time, and includes the current one', async () => {
    await of(scene.proxy).checkAll(new Date(TICK(9).getTime() - 1));
    await endOf(TICK(8));
    await of(scene.proxy).checkAll(TICK(9));
    await endOf(TICK(9));
    expect((await runs()).map(({ due_at: dueAt }) => dueAt as Date)).toEqual([TICK(2), TICK(8), TICK(9)]);
  });

  it('leaves its interrupted runs to the workers, which continue them', async () => {
    const letGo = holdRuns();
    await of(scene.proxy).checkAll(NOON(12));
    const isRunning = async () =>
      (await readRun(asking, (await runs(TICK(12)))[0]?.id ?? '')).state === 'running';
    await eventually(isRunning);
    await scene.proxy.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'payout-proxy reconciliation'`,
    );
    letGo();
    await of(other).checkAll(NOON(13)); // no longer the newest
    // without any payment
    expect(await endOf(TICK(12))).toMatchObject({ state: 'ended', result: 'incomplete' });
    expect(await endOf(TICK(13))).toMatchObject({ state: 'ended' });
  });

  it('waits for another run of the same day, and then compares it', async () => {
    const letGo = holdRuns();
    const { body } = await askForRun(asking, { from: MIDNIGHT(19), to: MIDNIGHT(20) }).expect(202);
    await of(other).checkAll(NOON(20));
    expect(await runs(TICK(20))).toEqual([]);
    letGo();
    await ended(asking, body.id);
    await of(other).checkAll(NOON(20));
    expect(await endOf(TICK(20))).toMatchObject({ state: 'ended' });
  });

  it('catches up when a worker starts, and stops with it', async () => {
    await callOf(scene.proxy.database, '2023-12-24T12:00:00Z');
    const schedule = scheduled('0 2 29 2 *'); // in leap years
    const third = await startProxy({ upstreamBaseUrl: scene.sandbox.url, ...schedule }, scene.proxy.database);
    await scene.worker.close(); // holds the jobs, and has no schedule
    await third.startWorker();
    await eventually(async () =>
      (await runs()).some(({ due_at: at }) => at?.toISOString().includes('-02-29T02:00') === true),
    );
    await third.close();
  });
});
