import { Client } from 'pg';
import { QUOTAS } from '../../../src/http/quotas/quotas';
import { QuotasService } from '../../../src/http/quotas/quotas.service';
import supertest, { type BodyOf } from '../../support/http/supertest';
import { answer, reset } from '../../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../../support/payments/approving';
import { airtime, eventually } from '../../support/payments/paying';
import { passTime } from '../../support/processes/pass-time';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const LONG = 60;

/** Long polling for apps without the SDK. */
describe('a request that waits for a call', () => {
  let approving: ApprovalScene;

  beforeAll(async () => {
    approving = await startApproving();
  });
  afterAll(() => approving.close());
  afterEach(() => jest.restoreAllMocks());

  const waits = ({ app }: TestProxy = approving.proxy) =>
    app.get(QuotasService, { strict: false }).inUse('waits');

  /** Sends a request. Returns once it waits. */
  async function waitFor(id: string, { key = approving.app, proxy = approving.proxy, seconds = LONG } = {}) {
    const before = waits(proxy);
    const asked = proxy.get(key, `/v1/calls/${id}?wait=${seconds}`).then(({ status, body }) => ({
      status,
      body: body as BodyOf<'get', '/v1/calls/{id}'>,
    }));
    await eventually(() => waits(proxy) > before);
    return { answer: asked };
  }

  it('returns when the call is decided, also by another instance', async () => {
    const id = await approving.hold();
    const { answer } = await waitFor(id);
    await approving.decide('reject', id, {}, approving.approver.key, approving.second).expect(200);
    const { status, body } = await answer;
    expect([status, body.outcome, body.items[0]?.state]).toEqual([200, 'declined', 'not_executed']);
    expect(waits()).toBe(0);
  });

  it('returns when a call in doubt is settled', async () => {
    const { proxy, app, upstream, query } = approving;
    upstream.behaviour = reset;
    const { headers } = await proxy.post(app, '/payouts/airtime', airtime('+254712345699')).expect(502);
    await approving.reset();
    const id = headers['x-call-id'] ?? '';
    const { answer } = await waitFor(id);
    await supertest(proxy.url)
      .post(`/v1/calls/${id}/resolution`)
      .set('X-API-Key', approving.approver.key)
      .send({ outcome: 'confirmed', reason: 'listed' })
      .expect(200);
    const { body } = await answer;
    expect([body.outcome, body.items[0]?.state, body.items[0]?.next]).toEqual(['confirmed', 'paid', 'none']);
    expect(await query('SELECT number FROM settlement WHERE intent_id = $1', [id])).toEqual([{ number: 1 }]);
  });

  it('returns when a payout of a successful call changes its state', async () => {
    const { proxy, app, upstream, approver } = approving;
    upstream.behaviour = answer(200, { status: 'success', data: { paymentLink: 'https://pay.example/1' } });
    const body = { credit: [{ email: 'ada@example.com', valueInUSD: 1 }] };
    const id = (await proxy.post(app, '/send', body).expect(200)).headers['x-call-id'] ?? '';
    await approving.reset();
    const waiting = await waitFor(id);
    await supertest(proxy.url)
      .post(`/v1/calls/${id}/resolution`)
      .set('X-API-Key', approver.key)
      .send({ outcome: 'failed', reason: 'nobody opened it', supersedes: id })
      .expect(200);
    const { outcome, items } = (await waiting.answer).body;
    expect([outcome, items[0]?.state, items[0]?.next]).toEqual(['succeeded', 'failed', 'send_again']);
  });

  it('returns at once if the call is settled, or without `wait`', async () => {
    const settled = await approving.proxy
      .get(approving.app, `/v1/calls/${approving.model}?wait=${LONG}`)
      .expect(200);
    expect(settled.body.outcome).toBe('succeeded');
    for (const query of ['', '?wait=0']) {
      const { body } = await approving.proxy.get(
        approving.app,
        `/v1/calls/${await approving.hold()}${query}`,
      );
      expect(body).toMatchObject({ outcome: 'pending_approval' });
    }
  });

  it('returns the unchanged call at its timeout', async () => {
    const { answer } = await waitFor(await approving.hold(), { seconds: 1 });
    const { status, body } = await answer;
    expect([status, body.outcome]).toEqual([200, 'pending_approval']);
  });

  it.each(['61', '-1', '1.5', 'soon', ''])('is rejected with wait=%s', async (wait) => {
    const { body } = await approving.proxy
      .get(approving.app, `/v1/calls/${approving.model}?wait=${wait}`)
      .expect(400);
    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '/wait' }] });
  });

  it('finds neither an unknown call nor that of another client, and does not wait for them', async () => {
    const rival = await approving.proxy.client('rival', 'read');
    const unknown = '01a1fb98-53b1-7069-a17f-af1e8cacb634';
    for (const [key, id] of [
      [approving.app, unknown],
      [rival.key, await approving.hold()],
    ] as const) {
      const { body } = await approving.proxy.get(key, `/v1/calls/${id}?wait=${LONG}`).expect(404);
      expect(body.code).toBe('call_not_found');
    }
  });

  it('ends when its key is revoked', async () => {
    const leaving = await approving.proxy.client('leaving', 'read');
    const id = await approving.hold({ client_id: leaving.id });
    const { answer } = await waitFor(id, { key: leaving.key });
    await approving.query('UPDATE api_key SET revoked_at = now() WHERE client_id = $1', [leaving.id]);
    const clock = passTime();
    const { status, body } = await answer.finally(() => clock.mockRestore());
    expect([status, body]).toMatchObject([401, { code: 'invalid_key' }]);
  });

  it('ends with its connection', async () => {
    const id = await approving.hold();
    const hangUp = new AbortController();
    const url = `${approving.proxy.url}/v1/calls/${id}?wait=${LONG}`;
    const answer = fetch(url, { headers: { 'X-API-Key': approving.app }, signal: hangUp.signal });
    await eventually(() => waits() === 1);
    hangUp.abort();
    await expect(answer).rejects.toThrow('aborted');
    await eventually(() => waits() === 0);
  });

  it('returns when the proxy stops', async () => {
    const stopping = await startProxy({ upstreamBaseUrl: approving.upstream.url }, approving.proxy.database);
    const { answer } = await waitFor(await approving.hold(), { proxy: stopping });
    await stopping.app.close();
    const { status, body } = await answer;
    expect([status, body.outcome]).toEqual([200, 'pending_approval']);
  });

  it('shares one short query with all others, and limits their number per key', async () => {
    const greedy = await approving.proxy.client('greedy', 'read', 'pay');
    const id = await approving.hold({ client_id: greedy.id });
    const waiting = Array.from({ length: QUOTAS.waits.ofKey }, () =>
      approving.proxy.get(greedy.key, `/v1/calls/${id}?wait=${LONG}`).then(({ body }) => body.outcome),
    );
    await eventually(() => waits() === QUOTAS.waits.ofKey);
    const refused = await approving.proxy.get(greedy.key, `/v1/calls/${id}?wait=${LONG}`).expect(429);
    expect(refused.headers['retry-after']).toBe(String(QUOTAS.waits.retryAfter));
    expect(refused.body).toMatchObject({ code: 'too_many_at_once' });
    await approving.proxy.post(greedy.key, '/payouts/airtime', airtime('+254712345698')).expect(200);

    const query = jest.spyOn(Client.prototype, 'query');
    const statements = () => query.mock.calls.map(([asked]: unknown[]) => JSON.stringify(asked));
    await eventually(() => statements().filter((text) => text.includes('AS version')).length >= 3);
    expect(statements().filter((text) => /\bintent\b/.test(text)).length).toBeLessThanOrEqual(4);

    await approving.query(
      `INSERT INTO decision (intent_id, kind, reason, client_id, key_id, decided_at, process)
       SELECT id, 'rejected', 'no', client_id, (SELECT id FROM api_key WHERE client_id = intent.client_id),
         now(), 1
       FROM intent WHERE id = $1`,
      [id],
    );
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['declined']));
    expect(waits()).toBe(0);
  });
});
