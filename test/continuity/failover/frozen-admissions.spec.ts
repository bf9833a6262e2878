import { CallJournal } from '../../../src/journal/call-journal';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import type { Answer } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { succeed } from '../../support/network/fake-upstream';
import { recordedEarlier } from '../../support/payments/earlier';
import { AIRTIME, PaymentScene, startPaying } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** Promise 7: a call that was admitted too long ago is not sent. It may be settled and paid again. */
describe('a process frozen between the commit and the first byte', () => {
  let paying: PaymentScene;
  let other: TestProxy;
  let approver: string;
  beforeAll(async () => {
    paying = await startPaying();
    other = await startProxy({ upstreamBaseUrl: paying.upstream.url }, paying.proxy.database);
    approver = (await other.client('approver', 'approve', 'audit')).key;
  });
  afterAll(async () => {
    await other.close();
    await paying.close();
  });
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = succeed;
  });
  afterEach(() => jest.restoreAllMocks());

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);

  /** Freezes the first proxy after its commit. Returns a function that thaws it an hour later. */
  async function freezeAfter<Body>(commit: 'admit' | 'approve', begin: () => Promise<Answer<Body>>) {
    // An approval is one transaction, whose result is the release.
    const [target, method] =
      commit === 'admit'
        ? [paying.proxy.app.get(CallJournal, { strict: false }), 'admit']
        : [paying.proxy.app.get(PrismaService), '$transaction'];
    type Commit = (...args: unknown[]) => Promise<{ kind?: string } | undefined>;
    const commits = target as unknown as Record<string, Commit>;
    const original = commits[method]!.bind(target);
    let thaw = (): void => undefined;
    const frozen = new Promise<void>((resolve) => {
      jest.spyOn(commits, method).mockImplementation(async (...args) => {
        const decided = await original(...args);
        if (decided?.kind !== 'released') return decided;
        resolve();
        await new Promise<void>((done) => (thaw = done));
        return decided;
      });
    });
    const answered = begin().then((response) => response);
    await frozen;
    return async () => {
      // The wall clock stays, because later spec files would write IDs of that hour.
      const monotonic = performance.now.bind(performance);
      jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + 3_600_000);
      thaw();
      return answered;
    };
  }

  /** Ages the frozen call by an hour and settles it as not executed. */
  async function settleAsNotExecuted(id: string) {
    await recordedEarlier(paying.proxy.database, id);
    await query('ALTER TABLE decision DISABLE TRIGGER refuse_change');
    await query(`UPDATE decision SET decided_at = decided_at - interval '1 hour' WHERE intent_id = $1`, [id]);
    await query('ALTER TABLE decision ENABLE TRIGGER refuse_change');
    await supertest(other.url)
      .post(`/v1/calls/${id}/resolution`)
      .set('X-API-Key', approver)
      .send({ outcome: 'not_executed', reason: 'the provider does not list it' })
      .expect(200);
  }
  const outcomesOf = (id: string) =>
    query("SELECT kind, record::json ->> 'failure' AS failure FROM outcome WHERE intent_id = $1", [id]);
  const spentBy = (clientId: string) =>
    query('SELECT sum(usd)::float AS usd FROM spending WHERE client_id = $1', [clientId]);

  it('sends nothing after the call was settled and another one paid', async () => {
    const { id: clientId, key } = await other.client('frozen', 'pay');
    const ask = (proxy: TestProxy) =>
      proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1');
    const thaw = await freezeAfter('admit', () => ask(paying.proxy));
    const call = first(
      await query<{ id: string }>('SELECT id::text FROM intent WHERE client_id = $1', [clientId]),
    );
    await settleAsNotExecuted(call.id);
    const paid = await ask(other).expect(200);
    const late = await thaw();
    expect([late.status, late.body.code, late.headers['retry-after']]).toEqual([503, 'too_late', '1']);
    expect(paying.upstream.received).toHaveLength(1);
    expect(await outcomesOf(call.id)).toEqual([{ kind: 'unknown', failure: 'abandoned' }]);
    expect(await spentBy(clientId)).toEqual([{ usd: 2.5 }]);
    const again = await ask(other).expect(200);
    expect([again.headers['idempotent-replayed'], again.headers['x-call-id']]).toEqual([
      'true',
      paid.headers['x-call-id'],
    ]);
  });

  it('sends nothing after the approved call was settled and another one paid', async () => {
    const { id: clientId, key, name } = await other.client('frozen-approval', 'pay');
    await query('UPDATE client SET approval_over_usd = 1 WHERE name = $1', [name]);
    const ask = () => other.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1');
    const approve = (id: string, url: string) =>
      supertest(url)
        .post(`/v1/approvals/${id}/approve`)
        .set('X-API-Key', approver)
        .send({ reason: 'agreed' });
    const held = (await ask().expect(202)).body.call_id;
    const thaw = await freezeAfter('approve', () => approve(held, paying.proxy.url));
    await settleAsNotExecuted(held);
    const again = (await ask().expect(202)).body.call_id;
    expect(again).not.toBe(held);
    await approve(again, other.url).expect(200);
    expect((await thaw()).body).toMatchObject({ id: held, outcome: 'not_executed' });
    expect(paying.upstream.received).toHaveLength(1);
    expect(await outcomesOf(held)).toEqual([{ kind: 'unknown', failure: 'abandoned' }]);
    expect(await spentBy(clientId)).toEqual([{ usd: 2.5 }]);
  });
});
