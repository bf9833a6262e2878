import { answer } from '../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { eventually } from '../support/payments/paying';
import { settleByHand } from '../support/payments/settling';

/** No approval exceeds a cap, and of concurrent approvals one is sent. */
describe('a held call', () => {
  let approving: ApprovalScene;

  beforeAll(async () => (approving = await startApproving()));
  afterAll(() => approving.close());
  beforeEach(() => approving.reset());

  const today = async () =>
    (await approving.query(`SELECT (now() AT TIME ZONE 'UTC')::date::text AS today`))[0]?.today;

  /** Decides through one of two proxies. Retries a 503: a decision waits only a second for its lock. */
  const decided = async (decision: 'approve' | 'reject', id: string, n: number) => {
    const proxy = n % 2 ? approving.second : approving.proxy;
    const ask = () => approving.decide(decision, id, { reason: `${n}` }, approving.approver.key, proxy);
    let got!: Awaited<ReturnType<typeof ask>>;
    await eventually(async () => {
      got = await ask();
      return got.status !== 503;
    });
    return got;
  };

  it.each([
    ['daily', 'daily_cap_usd'],
    ['monthly', 'monthly_cap_usd'],
  ])('waits while it exceeds the %s cap, until it fits to the last digit', async (period, column) => {
    const id = await approving.hold();
    await approving.query(`UPDATE client SET ${column} = 5.000000 WHERE id = $1`, [approving.clientId]);
    await approving.query('INSERT INTO spending VALUES ($1, $2, 2.500001)', [
      approving.clientId,
      await today(),
    ]);
    const { body } = await approving.decide('approve', id).expect(403);
    expect([body.code, body.detail]).toEqual(['cap_exceeded', expect.stringContaining(`${period} cap`)]);
    expect([approving.upstream.received, await approving.read(id)]).toMatchObject([
      [],
      { outcome: 'pending_approval' },
    ]);
    await approving.query('UPDATE spending SET usd = 2.5');
    await approving.decide('approve', id).expect(200);
    expect(await approving.spent()).toMatchObject({ usd: '5.000000' });
  });

  it('returns the location of its outcome and a poll interval, also to repeated requests', async () => {
    await approving.query('UPDATE client SET approval_over_usd = 1 WHERE id = $1', [approving.clientId]);
    const held = await approving.pay().set('Idempotency-Key', 'held-1').expect(202);
    const again = await approving.pay().set('Idempotency-Key', 'held-1').expect(202);
    await approving.query('UPDATE client SET approval_over_usd = NULL');
    const id = held.headers['x-call-id'] ?? '';
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-call-id': id });
    for (const { headers } of [held, again]) {
      expect(headers).toMatchObject({ location: `/v1/calls/${id}`, 'retry-after': '10' });
    }
    const { body } = await approving.proxy
      .get(approving.app, `${held.headers.location ?? ''}?wait=0`)
      .expect(200);
    expect(body).toMatchObject({ id, outcome: 'pending_approval' });
    await approving.decide('reject', id).expect(200);
    const declined = await approving.pay().set('Idempotency-Key', 'held-1').expect(403);
    expect(Object.keys(declined.headers)).not.toContain('location');
  });

  it('releases its reservation once a rejection of the upstream is verified', async () => {
    await approving.query('UPDATE client SET approval_over_usd = 1 WHERE id = $1', [approving.clientId]);
    const held = await approving.pay().expect(202);
    await approving.query('UPDATE client SET approval_over_usd = NULL');
    expect([approving.upstream.received, await approving.spent()]).toEqual([[], undefined]);
    approving.upstream.behaviour = answer(400, { status: 'error', error: 'no' });
    const { body } = await approving.decide('approve', held.headers['x-call-id'] ?? '').expect(200);
    expect(body).toMatchObject({
      outcome: 'unknown',
      approval: { status: 'approved', held_for: 'over_threshold' },
    });
    expect(approving.upstream.received).toHaveLength(1);
    expect(await approving.spent()).toMatchObject({ usd: '2.500000' });
    await settleByHand(approving.proxy, held);
    expect(await approving.spent()).toMatchObject({ usd: '0.000000' });
  });

  it('is decided once and sent at most once under twenty concurrent decisions on two processes', async () => {
    for (const rejections of [0, 10, 19]) {
      approving.upstream.received.length = 0;
      const id = await approving.hold();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => decided(n < rejections ? 'reject' : 'approve', id, n)),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect(answers.filter(({ body }) => body.code === 'already_decided')).toHaveLength(19);
      const { approval, outcome } = await approving.read(id);
      expect(won[0]?.body.approval?.reason).toBe(approval!.reason);
      expect(outcome).toBe(approval!.status === 'approved' ? 'succeeded' : 'declined');
      expect(approving.upstream.received).toHaveLength(approval!.status === 'approved' ? 1 : 0);
    }
  });

  it('is rejected and not counted if its approval races with a committing rejection', async () => {
    const id = await approving.hold();
    await approving.query('BEGIN');
    await approving.query(
      `INSERT INTO decision (intent_id, kind, reason, client_id, key_id, process)
        VALUES ($1, 'rejected', 'x', $2, $2, 1)`,
      [id, approving.approver.id],
    );
    const deciding = approving.decide('approve', id).then((got) => got);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock'`;
    await eventually(async () => (await approving.query(waiting)).length > 0);
    await approving.query('COMMIT');
    expect((await deciding).body.code).toBe('already_decided');
    expect([approving.upstream.received, await approving.spent()]).toEqual([[], undefined]);
  });

  it('uses the cap completely, and never exceeds it together with other approvals', async () => {
    await approving.query('UPDATE client SET daily_cap_usd = 10 WHERE id = $1', [approving.clientId]);
    const ids: string[] = [];
    while (ids.length < 8) ids.push(await approving.hold());
    const answers = await Promise.all(ids.map((id, n) => decided('approve', id, n)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 403, 403, 403, 403]);
    expect(await approving.spent()).toMatchObject({ usd: '10.000000' });
    expect(approving.upstream.received).toHaveLength(4);
  });
});
