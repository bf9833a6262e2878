import { ClientsService } from '../../src/access/clients/clients.service';
import supertest from '../support/http/supertest';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** Two administrators confirm that Ada and Ada.L are one human. */
describe('a merge of two people', () => {
  let proxy: TestProxy;
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1', dualControl: true });
    const clients = proxy.app.get(ClientsService, { strict: false });
    keys.nobody = (await clients.create('admin', ['admin', 'audit'])).key;
    for (const person of ['ada', 'ada.l', 'bob', 'carol'])
      keys[person] = (await clients.issueKey('admin', { person })).key;
    await clients.create('shop', ['read']);
    await clients.update('shop', { maxItems: 5 });
  });
  afterAll(() => proxy.close());

  const post = (person: string, path: string, body: object) =>
    supertest(proxy.url)
      .post(path as '/v1/person-merges')
      .set('X-API-Key', keys[person] ?? '')
      .send(body);
  const idOf = ({ body }: { body: unknown }) => (body as { change_id: string }).change_id;
  const decide = (person: string, id: string, decision = 'approve') =>
    post(person, `/v1/changes/${id}/${decision}`, { reason: 'the same at the provider' });
  let items = 5;
  const expand = async () => {
    const request = supertest(proxy.url)
      .patch('/v1/clients/shop')
      .set('X-API-Key', keys.ada ?? '');
    return idOf(await request.send({ max_items: (items += 1) }).expect(202));
  };
  const humans = () => proxy.database.query('SELECT same_as FROM person WHERE same_as IS NOT NULL');

  it('needs an approver other than the requester and the merged people', async () => {
    const change = await expand();
    await decide('ada.l', change).expect(200); // not merged with Ada yet
    await post('nobody', '/v1/person-merges', { kept: 'ada', merged: 'ada.l' }).expect(403);
    const body = { kept: 'ada', merged: 'ADA.L', reason: 'renamed' };
    const id = idOf(await post('bob', '/v1/person-merges', body).expect(202));
    for (const person of ['bob', 'ada', 'ada.l', 'nobody']) await decide(person, id).expect(403);
    const isOwn = async (person: string) =>
      (await proxy.get(keys[person] ?? '', '/v1/changes').expect(200)).body.changes[0]?.is_own;
    expect([await isOwn('bob'), await isOwn('ada'), await isOwn('carol')]).toEqual([true, true, false]);
    expect(await humans()).toEqual([]);
    const [waiting] = (await proxy.get(keys.carol ?? '', '/v1/changes').expect(200)).body.changes;
    expect(waiting).toMatchObject({
      id,
      kind: 'merge_people',
      client: null,
      expands: ['people'],
      requested_by: { person: 'bob' },
      after: { kept_person: 'ada', merged_person: 'ada.l' },
    });
    await decide('carol', id).expect(200);
    expect(await humans()).toHaveLength(1);
    const { body: acts } = await proxy.get(keys.bob ?? '', '/v1/activity?page_size=2').expect(200);
    expect(acts.activity).toMatchObject([
      { action: 'change_approved', by: { actor: 'carol' }, after: { change_id: id } },
      {
        action: 'people_merged',
        by: { actor: 'carol' },
        after: { kept_person: 'ada', merged_person: 'ada.l' },
      },
    ]);
  });

  it('treats them as one for pending changes', async () => {
    const change = await expand();
    expect((await decide('ada.l', change).expect(403)).body).toMatchObject({ code: 'own_approval' });
    await decide('bob', change, 'reject').expect(200);
  });

  it('is refused for one human, and for an unknown person', async () => {
    const same = await post('bob', '/v1/person-merges', { kept: 'ada.l', merged: 'ada' }).expect(400);
    expect(same.body).toMatchObject({ errors: [{ pointer: '/merged' }] });
    for (const merged of ['zoe', '01a21bf9-e7ea-7102-8550-53543fe6bd82'])
      expect(
        (await post('bob', '/v1/person-merges', { kept: 'ada', merged }).expect(404)).body,
      ).toMatchObject({
        code: 'person_not_found',
      });
  });

  it('is superseded once both are one', async () => {
    const request = async () =>
      idOf(await post('bob', '/v1/person-merges', { kept: 'bob', merged: 'ada' }).expect(202));
    const [first, second] = [await request(), await request()];
    await decide('carol', first).expect(200);
    expect((await decide('carol', second).expect(409)).body).toMatchObject({ code: 'change_superseded' });
  });
});
