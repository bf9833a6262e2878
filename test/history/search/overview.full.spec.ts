import { Decimal } from 'decimal.js';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { AIRTIME, airtimes, ofAirtime, REJECTED, TORN } from '../../support/console/overview-airtime';
import { SECTIONS } from '../../support/console/overview-sections';
import { first } from '../../support/examples/first';
import supertest from '../../support/http/supertest';
import { eventually } from '../../support/payments/paying';
import {
  ReconciliationScene,
  reconcile,
  startReconciling,
  untilNow,
} from '../../support/reconciliation/reconciliation-scene';

describe('GET /v1/overview', () => {
  let scene: ReconciliationScene;
  const keys = new Map<string, string>();

  const read = async (who: string, query = '') =>
    (await scene.proxy.get(keys.get(who) ?? '', `/v1/overview?${query}`).expect(200)).body;
  beforeAll(async () => {
    scene = await startReconciling();
    const { proxy, app } = scene;
    for (const scope of ['audit', 'reconcile', 'approve', 'admin', 'pay'] as const) {
      keys.set(scope, (await proxy.client(`only-${scope}`, scope)).key);
    }
    keys.set('all', (await proxy.client('all', 'audit', 'reconcile', 'approve', 'admin')).key);
    const capped = await proxy.app.get(ClientsService, { strict: false }).create('capped', ['pay'], {
      dailyCapUsd: new Decimal('10'),
      approvalOverUsd: new Decimal(5),
    });
    await proxy.post(app, '/payouts/airtime', airtimes([0.1, 0.2])).expect(200);
    await proxy.post(capped.key, '/payouts/airtime', airtimes([0.7])).expect(200);
    await proxy.post(app, '/payouts/airtime', airtimes([1.1], REJECTED)).expect(400);
    await proxy.post(app, '/payouts/airtime', { airtimes: [] }).expect(400);
    await proxy.post(app, '/payouts/airtime', airtimes([1.3], TORN)).expect(502);
    await proxy.post(capped.key, '/payouts/airtime', airtimes([6.25])).expect(202);
    await proxy.get(app, '/api/v0.1/wallets/list').expect(200);
  });
  afterAll(() => scene.close());

  it('counts paid, refused and held calls and calls in doubt, to the cent', async () => {
    const overview = await read('all');
    const { history, in_doubt: doubt, approvals, clients, stops, upstream } = overview;
    // 0.1 + 0.2 + 0.7 + 1.1 + 1.3 + 6.25. Refused calls have no payouts.
    expect(ofAirtime(overview)).toEqual(['6', '6', '9.65', '1']);
    expect(history?.outcomes).toEqual([
      { outcome: 'succeeded', calls: 3 },
      { outcome: 'unknown', calls: 2 },
      ...['pending_approval', 'refused'].map((outcome) => ({ outcome, calls: 1 })),
    ]);
    expect(history?.upstream_ms.map(({ operation, calls }) => [operation, calls])).toEqual([
      [AIRTIME, 4],
      ['GET /wallets/list', 1],
    ]);
    const { p50, p95, p99 } = first(history!.upstream_ms);
    expect([p50 > 0, p50 <= p95, p95 <= p99]).toEqual([true, true, true]);
    expect(doubt).toEqual({ calls: 2, usd: '2.4', oldest_since: expect.any(String) });
    expect(approvals).toEqual({ waiting: 1, usd: '6.25', next_expires_at: expect.any(String) });
    expect(stops).toEqual({ active: 0 });
    const spent = clients!.map(({ name, daily, monthly }) => [
      name,
      daily.cap_usd,
      daily.spent_usd,
      daily.left_usd,
      monthly.cap_usd,
      monthly.spent_usd,
    ]);
    expect(spent).toEqual([
      ['app', null, '2.7', null, null, '2.7'],
      ['capped', '10', '0.7', '9.3', null, '0.7'],
    ]);
    const time = expect.any(String);
    expect(upstream).toEqual([
      { account: 'main', open_circuits: [], last_answered_at: time, last_failure_at: time },
    ]);
    expect(Date.parse(overview.as_of)).toBeLessThanOrEqual(Date.now());
  });

  it('agrees with the search', async () => {
    const { history, in_doubt: doubt } = await read('audit', 'days=2');
    const get = async <const Path extends string>(path: Path) =>
      (await scene.proxy.get(keys.get('audit') ?? '', path).expect(200)).body;
    const { groups } = await get('/v1/audit/summary?group_by=outcome');
    const sorted = (list: [string | null, number][]) =>
      list.sort(([one], [other]) => (one ?? '').localeCompare(other ?? ''));
    expect(sorted(history!.outcomes.map(({ outcome, calls }) => [outcome, calls]))).toEqual(
      sorted(groups.map(({ group, calls }) => [group, calls])),
    );
    const { groups: exact } = await get('/v1/audit/summary?group_by=operation');
    for (const { operation, p50, p99 } of history!.upstream_ms) {
      const ms = exact.find(({ group }) => group === operation)!.upstream_ms;
      for (const ratio of [p50 / ms.p50!, p99 / ms.p99!]) expect(Math.abs(ratio - 1)).toBeLessThan(0.02);
    }
    const { calls } = await get('/v1/audit/calls?in_doubt=true');
    expect([calls.length, calls.at(-1)?.in_doubt_since]).toEqual([doubt?.calls, doubt?.oldest_since]);
  });

  it.each(['audit', 'reconcile', 'approve', 'admin'] as const)(
    'shows a key with the scope %s only its sections',
    async (scope) => {
      const overview = await read(scope);
      const none = Object.entries(SECTIONS).filter(
        ([, scopes]) => !(scopes as readonly string[]).includes(scope),
      );
      for (const [name] of none)
        expect([name, overview[name as keyof typeof SECTIONS]]).toEqual([name, null]);
      const own = Object.keys(SECTIONS).filter((name) => !none.some(([other]) => other === name));
      // No run exists yet, and sealing may take a moment.
      const there = own.filter((name) => !['last_run', 'seal'].includes(name)) as (keyof typeof SECTIONS)[];
      for (const name of there) expect(overview[name]).not.toBeNull();
      expect(Object.keys(overview).sort()).toEqual(
        [...Object.keys(SECTIONS), 'as_of', 'doubted_operations', 'storage', 'upstream'].sort(),
      );
      expect(overview.upstream).not.toBeNull();
    },
  );

  it('counts a call in doubt as paid once it is confirmed', async () => {
    const before = ofAirtime(await read('all'));
    const { calls } = (
      await scene.proxy.get(keys.get('all') ?? '', '/v1/audit/calls?in_doubt=true').expect(200)
    ).body;
    const torn = calls.find(({ total_usd: usd }) => usd === '1.3');
    await supertest(scene.proxy.url)
      .post(`/v1/calls/${torn!.id}/resolution`)
      .set('X-API-Key', keys.get('approve') ?? '')
      .send({ outcome: 'confirmed', reason: 'seen in the list' })
      .expect(200);
    const { groups } = (
      await scene.proxy.get(keys.get('all') ?? '', '/v1/audit/summary?group_by=outcome').expect(200)
    ).body;
    expect(groups.find(({ group }) => group === 'confirmed')).toMatchObject({
      asked_usd: '1.3',
      paid_usd: '1.3',
    });
    await eventually(async () => ofAirtime(await read('all'))[3] !== before[3]);
    const after = ofAirtime(await read('all'));
    expect([after[2], new Decimal(after[3] ?? 0).sub(before[3] ?? 0).toFixed()]).toEqual([before[2], '1.3']);
  });

  it('rejects other scopes, and periods over a month', async () => {
    const { body } = await scene.proxy.get(keys.get('pay') ?? '', '/v1/overview').expect(403);
    expect(body.code).toBe('scope_missing');
    for (const days of ['0', '32', 'x']) {
      const refused = await scene.proxy.get(keys.get('audit') ?? '', `/v1/overview?days=${days}`).expect(400);
      expect(refused.body.errors).toEqual([expect.objectContaining({ pointer: '/days' })]);
    }
    expect((await read('audit', 'days=31')).history?.days.length).toBeGreaterThan(0);
  });

  it('shows the newest reconciliation and its findings', async () => {
    const asking = { url: scene.proxy.url, key: scene.reconciler };
    await scene.past('/payouts/airtime', airtimes([0.45])).expect(200);
    const run = await reconcile(asking, untilNow());
    await eventually(async () => (await read('reconcile')).last_run?.id === run.id);
    const { last_run: last, findings } = await read('reconcile');
    const { body } = await scene.proxy.get(scene.reconciler, '/v1/reconciliation/findings').expect(200);
    const waiting = body.findings;
    const usd = waiting.reduce((sum, one) => sum.add(new Decimal(one.impact_usd).abs()), new Decimal(0));
    expect(last).toEqual({
      id: run.id,
      account: run.account,
      from: run.from,
      to: run.to,
      state: 'ended',
      result: 'findings',
      started_at: run.started_at,
      ended_at: run.ended_at,
      residual_usd: '0',
      open_findings: waiting.length,
      difference_usd: new Decimal(run.totals!.theirs.usd).sub(run.totals!.ours.usd).toFixed(),
    });
    await eventually(async () => (await read('reconcile')).findings?.[0]?.count === waiting.length);
    expect((await read('reconcile')).findings?.[0]).toEqual({
      age: '0_to_1',
      count: waiting.length,
      impact_usd: usd.toFixed(),
    });
    expect(findings?.map(({ age }) => age)).toEqual(['0_to_1', '2_to_7', '8_to_30', '31_or_more']);
  });

  it('shows the sealed records', async () => {
    await eventually(async () => ((await read('audit')).seal?.size ?? 0) > 0);
    const { seal } = await read('audit');
    expect(seal).toEqual({ size: expect.any(Number), sealed_at: expect.any(String) });
  });
});
