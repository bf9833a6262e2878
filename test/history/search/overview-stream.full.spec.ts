import { setTimeout as sleep } from 'node:timers/promises';
import { Decimal } from 'decimal.js';
import { OverviewService } from '../../../src/admin/overview/overview.service';
import { ServerSentEvent, serverSentEvents } from '../../../src/cli/reconcile/follow-run';
import { airtimes, ofAirtime } from '../../support/console/overview-airtime';
import type { Overview } from '../../support/http/api';
import { eventually } from '../../support/payments/paying';
import { ReconciliationScene, startReconciling } from '../../support/reconciliation/reconciliation-scene';

describe('the event stream of GET /v1/overview', () => {
  let scene: ReconciliationScene;
  const keys = new Map<string, string>();

  beforeAll(async () => {
    scene = await startReconciling();
    for (const scope of ['audit', 'approve', 'admin'] as const) {
      keys.set(scope, (await scene.proxy.client(`only-${scope}`, scope)).key);
    }
  });
  afterAll(() => scene.close());
  afterEach(() => jest.restoreAllMocks());

  const follow = async (who: string, signal: AbortSignal) => {
    const response = await fetch(`${scene.proxy.url}/v1/overview`, {
      headers: { 'X-API-Key': keys.get(who) ?? '', Accept: 'text/event-stream' },
      signal,
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    return serverSentEvents(response);
  };
  const next = async (events: AsyncGenerator<ServerSentEvent, void>) => {
    const { value } = await events.next();
    expect(value?.event).toBe('overview');
    return (value as ServerSentEvent).data as Overview;
  };
  const accesses = () =>
    scene.proxy.database.query(
      `SELECT rows, revealed FROM access a JOIN client c ON c.id = a.client_id
       WHERE c.name = 'only-approve' AND route = 'GET /v1/overview' AND read_at > now() - interval '1 hour'`,
    );

  it('sends the overview at once, and again after a payment', async () => {
    const leaving = new AbortController();
    const events = await follow('audit', leaving.signal);
    const before = ofAirtime(await next(events));
    await scene.proxy.post(scene.app, '/payouts/airtime', airtimes([0.1, 0.2])).expect(200);
    let after = before;
    await eventually(async () => (after = ofAirtime(await next(events)))[0] !== before[0]);
    const more = after.map((sum, index) => new Decimal(sum).sub(before[index] ?? 0).toFixed());
    expect(more).toEqual(['1', '2', '0.3', '0.3']);
    leaving.abort();
  });

  it('records one read, and sends no overview while nothing changes', async () => {
    const known = (await accesses()).length;
    const leaving = new AbortController();
    const events = await follow('approve', leaving.signal);
    expect((await next(events)).history).toBeNull();
    const second = next(events).catch(() => 'left');
    await sleep(2_500); // Longer than the interval of updates.
    leaving.abort();
    expect(await second).toBe('left');
    expect((await accesses()).slice(known)).toEqual([{ rows: 1, revealed: false }]);
  });

  it('sends keep-alives without changes, and reports failed reads', async () => {
    const leaving = new AbortController();
    const events = await follow('approve', leaving.signal);
    const first = await next(events);
    const now = performance.now.bind(performance);
    // The clock stays ahead, because data read in the future would stay fresh until then.
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 15_000);
    const { value: confirmed } = await events.next();
    expect(confirmed).toMatchObject({ event: 'current', data: { as_of: expect.any(String) } });
    expect(((confirmed as ServerSentEvent).data as { as_of: string }).as_of >= first.as_of).toBe(true);
    const broken = jest
      .spyOn(scene.proxy.app.get(OverviewService, { strict: false }), 'read')
      .mockRejectedValue(new Error('the database is away'));
    expect((await events.next()).value).toEqual({ event: 'unavailable', data: {} });
    broken.mockRestore();
    expect((await next(events)).stops).toEqual(first.stops); // Without a change.
    leaving.abort();
  });

  it('ends after five minutes, which bounds the use of a revoked key', async () => {
    const events = await follow('admin', new AbortController().signal);
    await next(events);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 301_000);
    for await (const { event } of events) expect(['overview', 'current']).toContain(event);
  });
});
