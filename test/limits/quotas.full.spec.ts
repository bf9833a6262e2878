import { get, IncomingMessage } from 'node:http';
import { KeyCallersService } from '../../src/access/callers/key-callers.service';
import { OverviewService } from '../../src/admin/overview/overview.service';
import { SummaryService } from '../../src/history/search/summary.service';
import { FaultThrottle, LONGEST_DELAY_MS } from '../../src/http/quotas/fault-throttle';
import { QUOTAS } from '../../src/http/quotas/quotas';
import { QuotasService } from '../../src/http/quotas/quotas.service';
import { ReaderPrisma, READERS } from '../../src/platform/database/pools/reader-prisma';
import { SIDE_CONNECTIONS, SidePrisma } from '../../src/platform/database/pools/side-prisma';
import supertest from '../support/http/supertest';
import { AIRTIME, eventually, PaymentScene, startPaying } from '../support/payments/paying';

const SUMMARY = '/v1/audit/summary';

describe('a key over its quota', () => {
  let paying: PaymentScene;
  let greedy: string;
  let other: string;

  beforeAll(async () => {
    paying = await startPaying();
    ({ key: greedy } = await paying.proxy.client('greedy', 'audit', 'pay'));
    ({ key: other } = await paying.proxy.client('other', 'audit', 'pay'));
  });
  afterAll(() => paying.close());
  afterEach(() => jest.restoreAllMocks());

  const ask = (key: string, path: string) => paying.proxy.get(key, path as typeof SUMMARY);

  /** Holds each summary until it is told to end. */
  function holdSummaries() {
    const begun: (() => void)[] = [];
    jest
      .spyOn(SummaryService.prototype, 'summarize')
      .mockImplementation(
        () =>
          new Promise((resolve) => begun.push(() => resolve({ group_by: 'day', groups: [], cut: false }))),
      );
    return begun;
  }
  const inUse = async (quota: string) => {
    const { text } = await ask(greedy, '/metrics');
    return Number(new RegExp(`^payout_proxy_quota_in_use{quota="${quota}"} (\\d+)$`, 'm').exec(text)?.[1]);
  };

  it('gets 429 for further searches, while other keys continue', async () => {
    const begun = holdSummaries();
    const ended: string[] = [];
    const searches = Array.from({ length: QUOTAS.searches.ofKey }, () =>
      ask(greedy, SUMMARY).then(() => ended.push('greedy')),
    );
    await eventually(async () => (await inUse('searches')) === QUOTAS.searches.ofKey);
    const { body } = await ask(greedy, SUMMARY).expect(429).expect('Retry-After', '2');
    expect(body).toMatchObject({
      code: 'too_many_at_once',
      detail: expect.stringContaining('8 concurrent searches') as string,
    });
    expect(begun).toHaveLength(QUOTAS.searches.atWork);
    const others = ask(other, SUMMARY).then(() => ended.push('other'));
    await eventually(async () => (await inUse('searches')) === QUOTAS.searches.ofKey + 1);
    await paying.pay().expect(200);
    await paying.proxy.post(greedy, '/payouts/airtime', AIRTIME).expect(200); // so does the rest of its own
    await ask(greedy, '/v1/calls').expect(200);
    for (let turn = 0; turn <= QUOTAS.searches.ofKey; turn += 1) {
      await eventually(() => begun.length > turn);
      begun[turn]?.();
      await eventually(() => ended.length > turn);
    }
    await Promise.all([...searches, others]);
    expect(ended.indexOf('other')).toBeLessThanOrEqual(2); // keys take turns
    expect(await inUse('searches')).toBe(0);
  });

  it('counts in slices while payments arrive', async () => {
    const summarize = jest.spyOn(SummaryService.prototype, 'summarize');
    const isPaying = jest.spyOn(QuotasService.prototype, 'isPaying', 'get');
    for (const rests of [true, false]) {
      isPaying.mockReturnValue(rests);
      await ask(greedy, SUMMARY).expect(200);
      expect(summarize).toHaveBeenLastCalledWith(expect.anything(), expect.objectContaining({ rests }));
    }
  });

  it('gets fewer turns while payments arrive, but not during reads', async () => {
    const noted = jest.spyOn(QuotasService.prototype, 'notePayment');
    await ask(greedy, SUMMARY).expect(200);
    await ask(other, '/v1/calls').expect(200);
    expect(noted).not.toHaveBeenCalled();
    await paying.pay().expect(200);
    expect(noted).toHaveBeenCalledTimes(1);
  });

  it('gets 429 for excess previews, and 503 if all keys together have too many', async () => {
    const preview = () =>
      supertest(paying.proxy.url).post('/v1/preview/payouts/airtime').set('X-API-Key', greedy).send(AIRTIME);
    const own = jest.replaceProperty(QUOTAS.previews, 'ofKey', 0 as never);
    const tooMany = await preview().expect(429).expect('Retry-After', '1');
    expect(tooMany.body).toMatchObject({
      code: 'too_many_at_once',
      detail: expect.stringContaining('previews') as string,
    });
    own.restore();
    const all = jest.replaceProperty(QUOTAS.previews, 'ofAll', 0 as never);
    const busy = await preview().expect(503).expect('Retry-After', '1');
    expect(busy.body).toMatchObject({
      code: 'readers_busy',
      detail: expect.stringContaining('previews') as string,
    });
    all.restore();
    await preview().expect(200);
  });

  it('records at most one of its refusals per minute', async () => {
    const replaced = jest.replaceProperty(QUOTAS.requests, 'ofKey', 0 as never);
    for (let time = 0; time < 3; time += 1)
      await ask(greedy, '/v1/limits').expect(429).expect('Retry-After', '1');
    await paying.pay().expect(429); // an own record, because it is another key
    replaced.restore();
    const rows = await paying.proxy.database.query(
      `SELECT key_id FROM refusal WHERE code = 'too_many_at_once' AND detail LIKE '%concurrent requests%'`,
    );
    expect(rows).toHaveLength(2);
    await ask(greedy, '/v1/limits').expect(200);
  });

  it('loses its turn when it disconnects', async () => {
    const begun = holdSummaries();
    const first = ask(other, SUMMARY).then(({ status }) => status);
    await eventually(() => begun.length === 1);
    const asked = get(`${paying.proxy.url}${SUMMARY}`, { headers: { 'x-api-key': greedy }, agent: false });
    asked.on('error', () => undefined);
    await eventually(async () => (await inUse('searches')) === 2);
    asked.destroy();
    await eventually(async () => (await inUse('searches')) === 1);
    begun[0]?.();
    expect(await first).toBe(200);
    expect(begun).toHaveLength(1);
  });

  it('waits with long bodies after recent faults, while other requests do not', async () => {
    const long = { airtimes: [{ countryToSend: 'Kenya', unknown: 'x'.repeat(100_000) }] };
    const post = (key: string, body: object) => paying.proxy.post(key, '/payouts/airtime', body);
    await post(greedy, long).expect(400);
    jest.spyOn(FaultThrottle.prototype, 'delayOf').mockReturnValue(LONGEST_DELAY_MS + 1);
    const { body } = await post(greedy, long).expect(429).expect('Retry-After', '6');
    expect(body.code).toBe('too_many_faults');
    await post(greedy, { airtimes: [] }).expect(400);
  });

  it('follows many streams at the cost of one', async () => {
    const reads = jest.spyOn(OverviewService.prototype, 'read');
    const keys = jest.spyOn(KeyCallersService.prototype, 'peek');
    const events: string[] = [];
    const startedAt = performance.now();
    const open = () =>
      new Promise<IncomingMessage>((resolve) => {
        const headers = { 'x-api-key': greedy, accept: 'text/event-stream' };
        get(`${paying.proxy.url}/v1/overview`, { headers, agent: false }, resolve);
      });
    const streams = await Promise.all(Array.from({ length: QUOTAS.streams.ofKey }, open));
    for (const stream of streams)
      stream.on('data', (data) => events.push(String(data))).on('error', () => undefined);
    const count = (event: RegExp) => events.join('').match(event)?.length ?? 0;
    const overviews = () => count(/^event: overview$/gm);
    const updates = () => count(/^event: (current|overview)$/gm);
    await eventually(() => overviews() >= streams.length);
    await eventually(() => keys.mock.calls.length > 0);
    await eventually(() => updates() >= 2 * streams.length);
    // One stream alone reads once a second at most, and checks its key every three seconds.
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(reads.mock.calls.length).toBeLessThanOrEqual(1 + seconds);
    expect(keys.mock.calls.length).toBeLessThanOrEqual(1 + seconds / 3);
    for (const stream of streams) stream.destroy();
    await eventually(async () => (await inUse('streams')) === 0);
  });

  it('cannot take payment connections', async () => {
    const app = paying.proxy.app;
    const [side, reader] = [app.get(SidePrisma, { strict: false }), app.get(ReaderPrisma, { strict: false })];
    const { database } = paying.proxy;
    await database.query('SELECT pg_advisory_lock(1)');
    const text = 'SELECT pg_advisory_xact_lock_shared(1)::text';
    const waits = [
      ...Array.from({ length: 2 * SIDE_CONNECTIONS }, () => side.$queryRawUnsafe(text)),
      ...Array.from({ length: 2 * READERS }, () => reader.readLong({ text, values: [] })),
    ];
    const waiting = Promise.allSettled(waits);
    const held = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await eventually(async () => (await database.query(held)).length === SIDE_CONNECTIONS + READERS);
    for (let time = 0; time < 5; time += 1) await paying.pay(`+25471234500${time}`).expect(200);
    await database.query('SELECT pg_advisory_unlock(1)');
    await waiting;
  });
});

describe('a statement of a disconnected reader', () => {
  let paying: PaymentScene;

  beforeAll(async () => (paying = await startPaying()));
  afterAll(() => paying.close());

  it('ends in Postgres', async () => {
    const reader = paying.proxy.app.get(ReaderPrisma, { strict: false });
    const running = async () =>
      (
        await paying.proxy.database.query(
          `SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(99999)' AND state = 'active'`,
        )
      ).length;
    const gone = new AbortController();
    const text = 'SET LOCAL statement_timeout = 0; SELECT pg_sleep(99999)';
    const reading = reader.readLong({ text, values: [] }, gone.signal);
    await eventually(async () => (await running()) === 1);
    gone.abort(new Error('gone'));
    await expect(reading).rejects.toThrow('gone');
    await eventually(async () => (await running()) === 0);
    await expect(reader.readLong({ text: 'SELECT 1', values: [] }, gone.signal)).rejects.toThrow('gone');
    expect(await reader.readLong({ text: 'SELECT 1 AS one', values: [] })).toEqual([{ one: 1 }]);
  });
});
