import { v7 as uuidv7 } from 'uuid';
import { reset } from '../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { eventually } from '../support/payments/paying';

/** A held call is sent once, and only after the approval of another person than its requester. */
describe('a held call', () => {
  let approving: ApprovalScene;

  beforeAll(async () => (approving = await startApproving()));
  afterAll(() => approving.close());
  beforeEach(() => approving.reset());

  const listed = async (status: string) => {
    const { body } = await approving.proxy
      .get(approving.approver.key, `/v1/approvals?page_size=200&status=${status}`)
      .expect(200);
    return body.approvals.map(({ id }) => id);
  };

  it('reserves nothing before its approval', async () => {
    const id = await approving.hold();
    const timeline = async () =>
      (await approving.proxy.get(approving.auditor, `/v1/audit/calls/${id}`).expect(200)).body;
    expect((await timeline()).ledger).toEqual([]);
    await approving.decide('approve', id).expect(200);
    const { ledger, approval } = await timeline();
    expect(ledger[0]).toMatchObject({ entry: 'reserved', at: approval?.decided_at });
  });

  it('is listed and shown with masked people until it is decided', async () => {
    const id = await approving.hold();
    expect(await approving.read(id)).toMatchObject({
      outcome: 'pending_approval',
      approval: { status: 'pending', reason: null },
    });
    expect(await listed('pending')).toContain(id);
    expect(
      (await approving.proxy.get(approving.approver.key, '/v1/approvals').expect(200)).body.approvals[0]?.id,
    ).toBe(id);
    const { body } = await approving.proxy.get(approving.approver.key, `/v1/approvals/${id}`).expect(200);
    expect(body).toMatchObject({
      total_usd: '2.5',
      items: [{ recipient: { phone: '+254••••5678' } }],
      approval: { held_for: 'over_threshold', expires_at: '2099-01-01T00:00:00.000Z', decided_by: null },
    });
    expect(body.approval?.content_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(body)).not.toContain('+254712345678');
    expect(approving.upstream.received).toEqual([]);
  });

  it('is sent once and unchanged after its approval, and counts against the cap of that day', async () => {
    const id = await approving.hold();
    const { content_hash } = (await approving.read(id)).approval!;
    const { body } = await approving.decide('approve', id, { content_hash }).expect(200);
    expect(body).toMatchObject({
      id,
      outcome: 'succeeded',
      upstream: { status: 200, attempts: 1 },
      approval: {
        status: 'approved',
        reason: 'agreed with Ada (a••@example.com)',
        decided_by: { key_id: expect.any(String) },
      },
    });
    const [sent] = await approving.query('SELECT body FROM intent_body WHERE intent_id = $1', [
      approving.model,
    ]);
    expect(approving.upstream.received).toMatchObject([
      { url: '/api/v0.1/payouts/airtime', body: String(sent?.body) },
    ]);
    const [decision] = await approving.query(
      'SELECT reserved_on::text AS day FROM decision WHERE intent_id = $1',
      [id],
    );
    expect(await approving.spent()).toEqual({ day: decision?.day, usd: '2.500000' });
    expect([await listed('approved'), await listed('pending')].map((ids) => ids.includes(id))).toEqual([
      true,
      false,
    ]);
    expect((await approving.decide('approve', id).expect(409)).body.code).toBe('already_decided');
    expect((await approving.decide('reject', id).expect(409)).body.code).toBe('already_decided');
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('is never sent after a rejection', async () => {
    const id = await approving.hold();
    const { body } = await approving.decide('reject', id, { reason: 'not ours' }).expect(200);
    expect(body).toMatchObject({ outcome: 'declined', approval: { status: 'rejected', reason: 'not ours' } });
    expect(await listed('rejected')).toContain(id);
    expect((await approving.decide('approve', id).expect(409)).body.code).toBe('already_decided');
    expect([approving.upstream.received, await approving.spent()]).toEqual([[], undefined]);
  });

  it('cannot be approved after it has expired', async () => {
    const id = await approving.hold({ expires_at: '2026-01-01T00:00:00Z' });
    expect(await approving.read(id)).toMatchObject({ outcome: 'expired', approval: { status: 'expired' } });
    expect([await listed('expired'), await listed('pending')].map((ids) => ids.includes(id))).toEqual([
      true,
      false,
    ]);
    for (const decision of ['approve', 'reject'] as const) {
      expect((await approving.decide(decision, id).expect(403)).body.code).toBe('approval_expired');
    }
    expect(approving.upstream.received).toEqual([]);
  });

  it.each(['approve', 'reject'] as const)(
    'cannot be decided (%s) by the client or the key of its requester',
    async (decision) => {
      const own = await approving.hold({ client_id: approving.approver.id });
      expect((await approving.decide(decision, own).expect(403)).body.code).toBe('own_approval');
      const sql = 'SELECT id FROM api_key WHERE client_id = $1';
      const [key] = await approving.query<{ id: string }>(sql, [approving.approver.id]);
      expect(
        (await approving.decide(decision, await approving.hold({ key_id: key?.id })).expect(403)).body.code,
      ).toBe('own_approval');
    },
  );

  it('is not sent if its content differs from the reviewed or requested content', async () => {
    const id = await approving.hold();
    for (const decision of ['approve', 'reject'] as const) {
      const { body } = await approving.decide(decision, id, { content_hash: 'ab'.repeat(32) }).expect(409);
      expect(body.code).toBe('content_changed');
    }
    await approving.query(
      `UPDATE intent_body SET body = replace(convert_from(body, 'UTF8'), '2.5', '9.5')::bytea
        WHERE intent_id = $1`,
      [id],
    );
    expect((await approving.decide('approve', id).expect(409)).body.code).toBe('content_changed');
    const erased = await approving.hold();
    await approving.query('DELETE FROM intent_body WHERE intent_id = $1', [erased]);
    expect((await approving.decide('approve', erased).expect(409)).body.code).toBe('content_changed');
    expect([approving.upstream.received, await approving.read(id)]).toMatchObject([
      [],
      { outcome: 'pending_approval' },
    ]);
    await approving.decide('reject', id).expect(200);
  });

  it('waits while everything, its client or its operation is stopped', async () => {
    const id = await approving.hold();
    for (const [client, operation] of [
      [null, null],
      [approving.clientId, null],
      [null, 'POST /payouts/airtime'],
    ]) {
      const stop = uuidv7();
      await approving.query(
        `INSERT INTO stop (id, stops_client_id, stops_operation, reason) VALUES ($1, $2, $3, 'x')`,
        [stop, client, operation],
      );
      expect((await approving.decide('approve', id).expect(503)).body.code).toBe('stopped');
      await approving.query('INSERT INTO stop_lift (stop_id) VALUES ($1)', [stop]);
    }
    expect(approving.upstream.received).toEqual([]);
    await approving.query(
      `INSERT INTO stop (id, stops_client_id, reason) VALUES ($1, $1, 'another client')`,
      [uuidv7()],
    );
    await approving.decide('approve', id).expect(200);
  });

  it('is in doubt and never sent again if its outcome is unknown', async () => {
    const id = await approving.hold();
    approving.upstream.behaviour = reset;
    expect((await approving.decide('approve', id).expect(200)).body).toMatchObject({ outcome: 'unknown' });
    expect((await approving.decide('approve', id).expect(409)).body.code).toBe('already_decided');
    expect(approving.upstream.received).toHaveLength(1);
    expect(await approving.spent()).toMatchObject({ usd: '2.500000' });
  });

  it('is in doubt if the approving process ends before the outcome', async () => {
    const id = await approving.hold();
    await approving.query(
      `INSERT INTO decision (intent_id, kind, reason, client_id, key_id, process)
        VALUES ($1, 'approved', 'x', $2, $2, 999)`,
      [id, approving.approver.id],
    );
    expect(await approving.read(id)).toMatchObject({ outcome: 'unknown', approval: { status: 'approved' } });
    expect(await approving.listed('unknown')).toContain(id);
  });

  it('is reserved and decided before a byte is sent', async () => {
    const id = await approving.hold();
    let hangUp = () => {};
    approving.upstream.behaviour = (_request, _response, socket) => (hangUp = () => socket.destroy());
    const deciding = approving.decide('approve', id).then((got) => got);
    await eventually(() => approving.upstream.received.length === 1);
    expect(await approving.spent()).toMatchObject({ usd: '2.500000' });
    expect(await approving.read(id)).toMatchObject({
      outcome: 'in_progress',
      approval: { status: 'approved' },
      upstream: null,
    });
    expect(
      (await approving.decide('approve', id, {}, approving.approver.key, approving.second).expect(409)).body
        .code,
    ).toBe('already_decided');
    hangUp();
    expect((await deciding).body).toMatchObject({ outcome: 'unknown' });
  });

  it('is reported as sent and not sent again if its outcome cannot be recorded', async () => {
    const id = await approving.hold();
    await approving.query('REVOKE INSERT ON outcome FROM payout_proxy');
    const got = await approving.decide('approve', id);
    await approving.query('GRANT INSERT ON outcome TO payout_proxy');
    expect([got.status, got.body.code]).toEqual([502, 'outcome_unknown']);
    expect(got.body.detail).toContain(`GET /v1/approvals/${id}`);
    expect((await approving.decide('approve', id).expect(409)).body.code).toBe('already_decided');
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('waits if its decision fails in the database', async () => {
    const id = await approving.hold();
    await approving.query('REVOKE INSERT ON spending FROM payout_proxy');
    const { body } = await approving.decide('approve', id).expect(503);
    await approving.query('GRANT INSERT ON spending TO payout_proxy');
    expect([body.code, await approving.read(id)]).toMatchObject([
      'database_unavailable',
      { outcome: 'pending_approval' },
    ]);
    expect(approving.upstream.received).toEqual([]);
  });

  it('is found by its ID only, and its decision requires a reason and the scope', async () => {
    for (const id of [uuidv7(), 'x', approving.model]) {
      expect(
        (await approving.proxy.get(approving.approver.key, `/v1/approvals/${id}`).expect(404)).body.code,
      ).toBe('approval_not_found');
      expect((await approving.decide('approve', id).expect(404)).body.code).toBe('approval_not_found');
    }
    const id = await approving.hold();
    await approving.decide('approve', id, {}, approving.auditor).expect(403);
    await approving.decide('approve', id, {}, approving.app).expect(403);
    const { body } = await approving.decide('approve', id, { reason: ' ', content_hash: 'x' }).expect(400);
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(['/reason', '/content_hash']);
    expect(approving.upstream.received).toEqual([]);
  });
});
