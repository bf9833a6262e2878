import { setTimeout as sleep } from 'node:timers/promises';
import { ServerSentEvent, serverSentEvents } from '../../../src/cli/reconcile/follow-run';
import { QUOTAS } from '../../../src/http/quotas/quotas';
import { RunConnection } from '../../../src/reconciliation/book/connection';
import { RunReader } from '../../../src/reconciliation/runs/run-reader';
import { TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { holdRuns } from '../../support/payments/held-runs';
import { eventually } from '../../support/payments/paying';
import { passTime } from '../../support/processes/pass-time';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import {
  ProxyAccess,
  askForRun,
  ended,
  readRun,
  ReconciliationScene,
  startReconciling,
  untilNow,
} from '../../support/reconciliation/reconciliation-scene';

/** The maximum of one key. */
const FOLLOWERS = QUOTAS.streams.ofKey;

/** Progress events for every follower. */
const CHANGES = 5;

/** The streams of `GET /v1/reconciliation/runs/{id}`. */
describe('a stream of a run', () => {
  let scene: ReconciliationScene;
  let here: ProxyAccess;
  let other: TestProxy;
  let there: ProxyAccess;

  beforeAll(async () => {
    scene = await startReconciling();
    other = await startProxy({ upstreamBaseUrl: scene.sandbox.url }, scene.proxy.database);
    here = { url: scene.proxy.url, key: scene.reconciler };
    there = { ...here, url: other.url };
    await scene.pay('+254712345601').expect(200);
  });
  afterAll(async () => {
    await other.close();
    await scene.close();
  });
  afterEach(() => jest.restoreAllMocks());

  type FollowOptions = { headers?: object; signal?: AbortSignal };
  const follow = ({ url, key }: ProxyAccess, id: string, more: FollowOptions = {}) =>
    fetch(`${url}/v1/reconciliation/runs/${id}`, {
      headers: { 'X-API-Key': key, Accept: 'text/event-stream', ...more.headers },
      ...(more.signal && { signal: more.signal }),
    });
  const begin = async () => (await askForRun(here, untilNow()).expect(202)).body.id;
  const query: TestDatabase['query'] = (sql, values) => scene.proxy.database.query(sql, values);
  const report = (id: string, done: number) =>
    query("INSERT INTO reconciliation_progress VALUES ($1, 'sources', $2, NULL)", [id, done]);
  const eventsOf = async (response: Response) => {
    const events: ServerSentEvent[] = [];
    for await (const event of serverSentEvents(response)) events.push(event);
    return events;
  };

  it('reports the progress and the end, from any instance, and then ends', async () => {
    const letGo = holdRuns();
    const id = await begin();
    await report(id, 17);
    const response = await follow(there, id);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = eventsOf(response);
    letGo();
    const [first, ...others] = (await events).filter(({ event }) => event !== 'queued');
    expect(first).toEqual({ event: 'progress', data: { step: 'sources', done: 17, of: null } });
    const { result, totals } = await ended(here, id);
    expect(others.at(-1)).toEqual({ event: 'end', data: { result, failure: null, totals } });
    expect(others.slice(0, -1).every(({ event }) => event === 'progress')).toBe(true);
  });

  it('reports the end of an ended run at once, and returns 204 with the ID of that event', async () => {
    const id = await begin();
    await ended(here, id);
    const text = await (await follow(here, id)).text();
    expect(text).toMatch(/^retry: \d+\n\nid: end\nevent: end\ndata: \{"result":"clean",.*\}\n\n$/);
    const again = await follow(here, id, { headers: { 'Last-Event-ID': 'end' } });
    expect([again.status, await again.text()]).toEqual([204, '']);
  });

  it('reports that the run waits for a worker, and continues', async () => {
    const letGo = holdRuns();
    const id = await begin();
    await eventually(async () => (await readRun(here, id)).state === 'running');
    const events = eventsOf(await follow(here, id));
    const take = jest.spyOn(RunConnection, 'open').mockRejectedValue(new Error('no connection'));
    await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'payout-proxy reconciliation'`);
    await eventually(async () => (await readRun(here, id)).state === 'queued');
    const reads = jest.spyOn(RunReader.prototype, 'one');
    await eventually(() => reads.mock.calls.length > 2); // the stream has read it
    take.mockRestore();
    letGo();
    const names = (await events).map(({ event }) => event);
    expect([names.includes('queued'), names.at(-1)]).toEqual([true, 'end']);
  });

  it('reports that no worker continues the run', async () => {
    const id = '01a1fc4c-d86a-751d-baa6-e9463876b80d';
    await query(
      `INSERT INTO reconciliation_run (id, from_at, to_at, as_of, historical, settings, started_at)
       SELECT $1, from_at, to_at, as_of, FALSE, settings, now() - interval '25 hours'
       FROM reconciliation_run LIMIT 1`,
      [id],
    );
    const [event, ...more] = await eventsOf(await follow(here, id));
    expect([event?.event, event?.data.detail, more]).toEqual([
      'interrupted',
      expect.stringMatching(/within a day/),
      [],
    ]);
  });

  it('stops querying the database when its reader disconnects', async () => {
    const letGo = holdRuns();
    const id = await begin();
    const reads = jest.spyOn(RunReader.prototype, 'one');
    const leaving = new AbortController();
    const response = await follow(here, id, { signal: leaving.signal });
    await eventually(() => reads.mock.calls.length > 1);
    leaving.abort();
    await expect(response.text()).rejects.toThrow();
    await eventually(async () => {
      const count = reads.mock.calls.length;
      await sleep(600); // longer than the polling interval
      return reads.mock.calls.length === count;
    });
    letGo();
    await ended(here, id);
  });

  it('ends cleanly when the proxy stops', async () => {
    const letGo = holdRuns();
    const id = await begin();
    const third = await startProxy({ upstreamBaseUrl: scene.sandbox.url }, scene.proxy.database);
    const events = eventsOf(await follow({ ...here, url: third.url }, id));
    await third.close();
    // no error
    expect((await events).every(({ event }) => ['queued', 'progress'].includes(event))).toBe(true);
    letGo();
    await ended(here, id);
  });

  it('reads as much for many followers of a run as for one', async () => {
    const letGo = holdRuns();
    const id = await begin();
    await report(id, 0);
    const leaving = new AbortController();
    const followers = await Promise.all(Array.from({ length: FOLLOWERS }, () => follow(here, id, leaving)));
    const last = followers.map(() => -1);
    const reading = followers.map(async (response, place) => {
      for await (const { event, data } of serverSentEvents(response)) {
        if (event === 'progress') last[place] = (data as { done: number }).done;
      }
    });
    const untilAllHave = (done: number) => eventually(() => last.every((one) => one === done));
    await untilAllHave(0);
    const reads = jest.spyOn(RunReader.prototype, 'one');
    const beganAt = performance.now();
    for (let done = 1; done <= CHANGES; done += 1) {
      await query('UPDATE reconciliation_progress SET done = $2 WHERE run_id = $1', [id, done]);
      await untilAllHave(done);
    }
    // Each follower polls at least once per change, and a value is shared for a quarter of a second.
    expect(reads.mock.calls.length).toBeLessThanOrEqual((performance.now() - beganAt) / 250 + 1);
    leaving.abort();
    await Promise.allSettled(reading);
    letGo();
    await ended(here, id);
  });

  it('is recorded as a reading', async () => {
    const id = await begin();
    await ended(here, id);
    await (await follow(here, id)).text();
    const [row] = await scene.proxy.database.query('SELECT route, rows FROM access ORDER BY id DESC LIMIT 1');
    expect(row).toEqual({ route: 'GET /v1/reconciliation/runs/:id', rows: 1 });
  });

  describe('with an invalid key or session', () => {
    const listen = (headers: Record<string, string>, path = '/v1/overview') =>
      fetch(`${here.url}${path}`, { headers: { Accept: 'text/event-stream', ...headers } });

    it('ends once its key is revoked, expired or demoted, or it has signed out', async () => {
      const names = ['revoked', 'expired', 'demoted', 'moved', 'signed-out', 'kept'];
      const clients = await Promise.all(names.map((name) => scene.proxy.client(name, 'audit', 'reconcile')));
      const [revoked, expired, demoted, moved, signedOut, kept] = clients.map(({ id, key }) => ({ id, key }));
      const signIn = supertest(here.url).post('/v1/session');
      const { headers } = await signIn.set('X-API-Key', signedOut?.key ?? '');
      const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
      const letGo = holdRuns();
      const run = `/v1/reconciliation/runs/${await begin()}`;
      const keyed = [revoked, expired, demoted, moved].map((one) => ({ 'X-API-Key': one?.key ?? '' }));
      const ending = await Promise.all([
        ...keyed.map((who) => listen(who)),
        ...keyed.map((who) => listen(who, run)),
        listen({ Cookie: cookie }),
      ]);
      const leaving = new AbortController();
      const staying = await follow({ ...here, key: kept?.key ?? '' }, run.split('/').at(-1) ?? '', leaving);
      expect([...ending, staying].map(({ status }) => status)).toEqual([...ending, staying].map(() => 200));

      await query('UPDATE api_key SET revoked_at = now() WHERE client_id = $1', [revoked?.id]);
      await query('UPDATE api_key SET expires_at = now() WHERE client_id = $1', [expired?.id]);
      await query("UPDATE client SET scopes = '{audit,reconcile,approve}' WHERE id = $1", [demoted?.id]);
      await query("UPDATE client SET addresses = '{192.0.2.0/24}' WHERE id = $1", [moved?.id]);
      await query('DELETE FROM console_session', []);
      passTime(); // now, because a value read in the future would stay fresh until then
      await Promise.all(ending.map((response) => response.text())); // each ends cleanly
      const reads = jest.spyOn(RunReader.prototype, 'one');
      await eventually(() => reads.mock.calls.length > 1); // readers with access continue
      leaving.abort();
      await expect(staying.text()).rejects.toThrow();
      letGo();
    });

    it('is limited in number, and slots become free when streams end', async () => {
      const { key } = await scene.proxy.client('many', 'audit');
      const leaving = new AbortController();
      const one = { headers: { 'X-API-Key': key, Accept: 'text/event-stream' }, signal: leaving.signal };
      const open = await Promise.all(
        Array.from({ length: QUOTAS.streams.ofKey }, () => fetch(`${here.url}/v1/overview`, one)),
      );
      expect(open.map(({ status }) => status)).toEqual(open.map(() => 200));
      const refused = await listen({ 'X-API-Key': key });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
      expect(await refused.json()).toMatchObject({ code: 'too_many_at_once' });
      leaving.abort();
      let next = 429;
      await eventually(async () => {
        const again = await listen({ 'X-API-Key': key });
        next = again.status;
        await again.body?.cancel();
        return next !== 429;
      });
      expect(next).toBe(200);
    });
  });
});
