import { ClientsService } from '../../src/access/clients/clients.service';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** Ada and Bob are administrators. The client of one of them may have leaked. */
describe('lifting a stop with dual control', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let nobody: string;
  let ada: string;
  let bob: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dualControl: true });
    const clients = proxy.app.get(ClientsService, { strict: false });
    nobody = (await clients.create('admin', ['admin', 'audit'])).key;
    ada = (await clients.issueKey('admin', { person: 'ada' })).key;
    bob = (await clients.issueKey('admin', { person: 'bob' })).key;
    await clients.create('shop', ['pay', 'read']);
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const web = () => supertest(proxy.url);
  const stop = async (key: string) =>
    (
      await web()
        .post('/v1/stops')
        .set('X-API-Key', key)
        .send({ client: 'shop', reason: 'leaked' })
        .expect(201)
    ).body.id;
  const lift = (key: string, id: string, query = '') =>
    web()
      .delete(`/v1/stops/${id}${query}` as '/v1/stops/{id}')
      .set('X-API-Key', key);
  const decide = (key: string, id: string, decision: 'approve' | 'reject' = 'approve') =>
    web()
      .post(`/v1/changes/${id}/${decision}` as '/v1/changes/{id}/approve')
      .set('X-API-Key', key)
      .send({ reason: 'agreed' });
  const active = async () => (await proxy.get(ada, '/v1/stops').expect(200)).body.stops.map(({ id }) => id);
  const idOf = ({ body }: { body: object }) => (body as { change_id: string }).change_id;
  const liftByTwo = async (id: string) => decide(bob, idOf(await lift(ada, id).expect(202))).expect(200);

  it('is permitted to its author alone for ten minutes', async () => {
    await lift(ada, await stop(ada)).expect(200);
    const old = await stop(ada);
    await proxy.database.query('SET session_replication_role = replica');
    await proxy.database.query(
      `UPDATE stop SET stopped_at = stopped_at - interval '10 minutes' WHERE id = '${old}'`,
    );
    await proxy.database.query('RESET session_replication_role');
    await lift(ada, old).expect(202);
    expect(await active()).toEqual([old]);
    await liftByTwo(old);
  });

  it.each(['?unreconciled=true', ''])(
    'requires two persons for a stop of another person: %s',
    async (query) => {
      const id = await stop(bob);
      const asked = await lift(ada, id, query).expect(202);
      expect(await active()).toEqual([id]);
      const [waiting] = (await proxy.get(bob, '/v1/changes').expect(200)).body.changes;
      expect(waiting).toMatchObject({
        id: idOf(asked),
        kind: 'lift_stop',
        client: null,
        expands: ['stops'],
        after: { stop_id: id, stops: 'client shop: leaked', unreconciled: query !== '' },
        requested_by: { person: 'ada' },
      });
      await decide(ada, idOf(asked)).expect(403);
      await decide(nobody, idOf(asked)).expect(403);
      await decide(bob, idOf(asked)).expect(200);
      const { body } = await proxy.get(ada, '/v1/stops?all=true').expect(200);
      expect(body.stops[0]).toMatchObject({ id, lifted_by: { actor: 'bob' } });
      expect(await active()).toEqual([]);
    },
  );

  it('requires two persons for an own stop if the recovery gap was not read', async () => {
    const id = await stop(ada);
    await decide(bob, idOf(await lift(ada, id, '?unreconciled=true').expect(202)), 'reject').expect(200);
    expect(await active()).toEqual([id]);
    await lift(ada, id).expect(200);
  });

  it('requires a named person', async () => {
    const id = await stop(nobody);
    expect((await lift(nobody, id).expect(403)).body.code).toBe('personal_key_required');
    await liftByTwo(id);
  });

  it('supersedes a request for an already lifted stop', async () => {
    const id = await stop(bob);
    const asked = await lift(ada, id).expect(202);
    await lift(bob, id).expect(200);
    expect((await decide(bob, idOf(asked)).expect(409)).body.code).toBe('change_superseded');
    await lift(ada, id).expect(404);
  });
});
