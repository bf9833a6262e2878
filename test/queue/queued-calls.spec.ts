import { answer, FakeUpstream, succeed } from '../support/network/fake-upstream';
import { eventually, phoneOf, phones } from '../support/payments/paying';
import { QueueScene, startQueueing } from '../support/queue/queueing';

/** A request with Prefer: respond-async is admitted at once, and sent once, in its turn. */
describe('a queued call', () => {
  let queueing: QueueScene;

  beforeAll(async () => (queueing = await startQueueing({ upstreamConnections: 4 })));
  afterAll(async () => {
    await queueing.close();
    await queueing.upstream.stop();
  });
  beforeEach(() => queueing.reset());

  const request = (phone?: string) => queueing.pay(phone).set('Prefer', 'respond-async');
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';

  /** Lets no answer out, so that the places of the queue stay in use. */
  function holdAnswers(): { release: () => void; held: () => number } {
    const waiting: (() => unknown)[] = [];
    queueing.upstream.behaviour = (...exchange) => waiting.push(() => succeed(...exchange));
    return {
      held: () => waiting.length,
      release: () => {
        queueing.upstream.behaviour = succeed;
        for (const one of waiting.splice(0)) one();
      },
    };
  }

  it('is accepted with 202, reserves its amount, and is sent once', async () => {
    const accepted = await request().expect(202);
    const id = idOf(accepted);
    expect(accepted.body).toEqual({ status: 'queued', call_id: id });
    expect(accepted.headers).toMatchObject({
      location: `/v1/calls/${id}`,
      'preference-applied': 'respond-async',
      'retry-after': '5',
    });
    expect(await queueing.spent()).toMatchObject({ usd: '2.500000' });
    const call = await queueing.become(id, 'succeeded');
    expect(call).toMatchObject({
      approval: null,
      queue: { expires_at: expect.any(String), released_at: expect.any(String) },
      items: [{ state: 'paid' }],
    });
    expect(queueing.upstream.received).toHaveLength(1);
    expect(await queueing.spent()).toMatchObject({ usd: '2.500000' }); // not reserved again
    expect(await queueing.isInQueue(id)).toBe(false);
  });

  it('is listed, shown and replayed as queued until its turn, and then with its true answer', async () => {
    const { held, release } = holdAnswers();
    const before = await Promise.all(phones(6).map((phone) => request(phone).expect(202)));
    await eventually(() => held() === 6); // three places of each instance
    const keyed = () => request().set('Idempotency-Key', 'salary-7');
    const first = await keyed().expect(202);
    const id = idOf(first);
    const again = await keyed().expect(202);
    expect(again.body).toEqual(first.body);
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'x-call-id': id,
      'retry-after': '5',
    });
    const { body: own } = await queueing.proxy.get(queueing.app, '/v1/calls?state=queued').expect(200);
    expect(own.calls.map((call) => [call.id, call.outcome, call.items[0]?.state])).toEqual([
      [id, 'queued', 'queued'],
    ]);
    expect(await queueing.listed('queued')).toEqual([id]);
    const waiting = queueing.proxy.get(queueing.app, `/v1/calls/${id}?wait=30`);
    const changed = waiting.expect(200).then(({ body }) => body.outcome);
    release();
    expect(['in_progress', 'succeeded']).toContain(await changed);
    await queueing.become(id, 'succeeded');
    const replayed = await keyed().expect(200);
    expect(replayed.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-call-id': id });
    for (const one of before) await queueing.become(idOf(one), 'succeeded');
    expect(queueing.upstream.received).toHaveLength(7);
  });

  it('is sent once, whichever of several instances takes it', async () => {
    const to = phones(60);
    const ids = (await Promise.all(to.map((phone) => request(phone).expect(202)))).map(idOf);
    for (const id of ids) await queueing.become(id, 'succeeded');
    expect(queueing.upstream.received.map(phoneOf).sort()).toEqual(to.sort());
    const processes = await queueing.query(
      `SELECT DISTINCT process FROM decision WHERE kind = 'released' AND intent_id = ANY ($1)`,
      [ids],
    );
    expect(processes.length).toBeGreaterThan(0);
  });

  it('is sent as it was requested, however long its list is', async () => {
    const airtimes = phones(300).map((phoneNumber) => ({
      countryToSend: 'Kenya',
      phoneNumber,
      valueInUSD: 1,
    }));
    const { proxy, app, upstream } = queueing;
    const list = proxy.post(app, '/payouts/airtime', { airtimes }).set('Prefer', 'respond-async');
    await queueing.become(idOf(await list.expect(202)), 'succeeded');
    expect(upstream.received.map(({ body }) => JSON.parse(body) as object)).toEqual([{ airtimes }]);
  });

  it('is admitted by all rules: its cap, its key, and its stop', async () => {
    await queueing.query('UPDATE client SET daily_cap_usd = 2');
    expect((await request().expect(403)).body.code).toBe('cap_exceeded');
    await queueing.query('UPDATE client SET daily_cap_usd = NULL');
    const key = 'salary-8';
    await request().set('Idempotency-Key', key).expect(202);
    const reused = await request(phones(1)[0]).set('Idempotency-Key', key).expect(422);
    expect(reused.body.code).toBe('idempotency_key_reused');
  });

  it('is held instead if it needs an approval', async () => {
    await queueing.query('UPDATE client SET approval_over_usd = 1');
    const { body, headers } = await request().expect(202);
    await queueing.query('UPDATE client SET approval_over_usd = NULL');
    expect(body.status).toBe('pending_approval');
    expect(headers['preference-applied']).toBeUndefined();
  });

  it('is sent at once if its operation has no body, or without the preference', async () => {
    const plain = await queueing.pay().set('Prefer', 'return=minimal').expect(200);
    expect(plain.headers['preference-applied']).toBeUndefined();
  });

  it('stays queued while the upstream takes no connections, except for a few', async () => {
    const { upstream, query } = queueing;
    const port = Number(new URL(upstream.url).port);
    await upstream.stop();
    const ids = (await Promise.all(phones(40).map((phone) => request(phone).expect(202)))).map(idOf);
    await eventually(async () => (await queueing.listed('not_sent')).some((id) => ids.includes(id)));
    const [left] = await query<{ count: number }>('SELECT count(*)::integer AS count FROM queued_call');
    expect(left?.count).toBeGreaterThan(20);
    queueing.upstream = await FakeUpstream.start(port);
    const ended = async (id: string) => {
      const { outcome } = await queueing.read(id);
      return outcome !== 'queued' && outcome !== 'in_progress';
    };
    for (const id of ids) await eventually(() => ended(id));
    const sent = queueing.upstream.received.length;
    const states = await Promise.all(ids.map(async (id) => (await queueing.read(id)).outcome));
    expect(states.filter((state) => state === 'succeeded')).toHaveLength(sent);
    expect(sent).toBeGreaterThan(20);
  });

  it('is rejected, failed or in doubt as any call, by the answer in its turn', async () => {
    queueing.upstream.behaviour = answer(400, { status: 'error', error: 'no', type: 'NO', code: 'NO' });
    await queueing.become(idOf(await request().expect(202)), 'unknown');
    queueing.upstream.behaviour = (_request, _response, socket) => socket.destroy();
    await queueing.become(idOf(await request().expect(202)), 'unknown');
  });
});
