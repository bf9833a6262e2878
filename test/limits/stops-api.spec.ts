import type { Request } from '../support/http/request';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy } from '../support/processes/proxy';

describe('/v1/stops', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let admin: { key: string };
  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    admin = await proxy.client('operators', 'admin');
    await proxy.client('shop', 'pay', 'read');
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const stop = (body: object) =>
    supertest(proxy.url).post('/v1/stops').set('X-API-Key', admin.key).send(body);
  const lift = (id: string) => supertest(proxy.url).delete(`/v1/stops/${id}`).set('X-API-Key', admin.key);
  const list = async (query = '') => {
    const { body } = await proxy.get(admin.key, `/v1/stops?${query}`).expect(200);
    return body.stops.map(({ id }) => id);
  };

  it('stops each target once, lists active stops, and lifts them', async () => {
    const targets = [{ everything: true }, { client: 'shop' }, { operation: 'POST /payouts/airtime' }];
    const ids: string[] = [];
    for (const target of targets) {
      const stopped = await stop({ ...target, reason: 'an incident' })
        .set('X-Actor', 'ada')
        .expect(201);
      expect(stopped.body).toEqual({
        id: expect.any(String),
        everything: false,
        cause: null,
        client: null,
        operation: null,
        ...target,
        reason: 'an incident',
        stopped_at: expect.stringMatching(/Z$/),
        lifted_at: null,
        lifted_by: null,
        unreconciled: false,
        // X-Actor is only a claim
        stopped_by: { client: 'operators', key_id: expect.any(String), actor: null },
      });
      const again = await stop({ ...target, reason: 'another one' }).expect(200);
      expect(again.body).toEqual(stopped.body);
      ids.unshift(stopped.body.id);
    }
    expect(await list()).toEqual(ids);

    const { body: lifted } = await lift(ids[1] ?? '').expect(200);
    expect(lifted).toMatchObject({
      id: ids[1],
      client: 'shop',
      lifted_by: { client: 'operators', actor: null },
    });
    expect(Date.parse(lifted.lifted_at ?? '')).toBeGreaterThanOrEqual(Date.parse(lifted.stopped_at));
    expect(await list()).toEqual([ids[0], ids[2]]);
    expect(await list('all=false')).toEqual([ids[0], ids[2]]);
    expect(await list('all=true')).toEqual(ids);
    const { body: stoppedAnew } = await stop({ client: 'shop', reason: 'again' }).expect(201);
    expect(stoppedAnew.id).not.toBe(ids[1]);
    for (const id of await list()) await lift(id).expect(200);
  });

  it('stops and lifts once under concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => stop({ client: 'shop', reason: 'a leak' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
    const [id = '', ...others] = [...new Set(answers.map(({ body }) => body.id as string))];
    expect(others).toEqual([]);
    const lifts = await Promise.all(Array.from({ length: 10 }, () => lift(id)));
    expect(lifts.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(404)]);
  });

  it.each<[string, object, string[]]>([
    ['no target', { reason: 'why' }, ['/everything']],
    ['nothing', {}, ['/everything', '/reason']],
    ['everything, but not really', { everything: false, reason: 'why' }, ['/everything']],
    ['two targets', { client: 'shop', operation: 'POST /send', reason: 'why' }, ['/client', '/operation']],
    ['everything and more', { everything: true, client: 'shop', reason: 'why' }, ['/client', '/everything']],
    ['a client there is not', { client: 'nobody', reason: 'why' }, ['/client']],
    ['an operation there is not', { operation: 'POST /gold', reason: 'why' }, ['/operation']],
    ['an operation that reads', { operation: 'GET /wallets/list', reason: 'why' }, ['/operation']],
    ['no reason', { everything: true, reason: ' ' }, ['/reason']],
    ['a field there is not', { everything: true, reason: 'why', until: 'noon' }, ['/until']],
  ])('rejects %s with an explanation', async (_what, body, pointers) => {
    const refused = await stop(body)
      .expect(400)
      .expect('content-type', /problem\+json/);
    const found = (refused.body.errors as { pointer: string }[]).map(({ pointer }) => pointer);
    expect([refused.body.code, found.sort()]).toEqual(['invalid_request', pointers]);
    expect(await list()).toEqual([]);
  });

  it.each(['01a1fc4c-d86a-751d-baa6-e9463876b80c', 'shop', "'"])(
    'returns 404 for lifting %s, which is not a stop',
    async (id) => {
      const { body } = await lift(encodeURIComponent(id)).expect(404);
      expect(body.code).toBe('stop_not_found');
    },
  );

  it('lets admin stop, approvers and auditors read, and rejects other scopes', async () => {
    const { body } = await stop({ client: 'shop', reason: 'why' }).expect(201);
    for (const scope of ['approve', 'audit', 'pay', 'reconcile'] as const) {
      const { key } = await proxy.client(`has-${scope}`, scope);
      const mayRead = scope === 'approve' || scope === 'audit';
      const send = (request: Request) => request.set('X-API-Key', key);
      await send(supertest(proxy.url).get('/v1/stops')).expect(mayRead ? 200 : 403);
      await send(supertest(proxy.url).post('/v1/stops'))
        .send({ everything: true, reason: 'why' })
        .expect(403);
      await send(supertest(proxy.url).delete(`/v1/stops/${body.id}`)).expect(403);
    }
    await lift(body.id).expect(200);
  });
});
