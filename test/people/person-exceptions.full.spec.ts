import { ClientsService } from '../../src/access/clients/clients.service';
import { personHash } from '../../src/access/people/person';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { startProxy, TestProxy } from '../support/processes/proxy';

const ISSUER = 'https://id.example';
const PAGE_ISSUER = 'https://pages.example';
const PERSONS = '/v1/clients/phone/persons';

/** Ada and Bob administer with dual control. The client `phone` limits each of its people to 10 a day. */
describe('an exception to the limits of a person', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let ada: string;
  let bob: string;
  let grace: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dualControl: true });
    const clients = proxy.app.get(ClientsService, { strict: false });
    ada = (await clients.create('admin', ['admin', 'audit'], { person: 'ada' })).key;
    bob = (await clients.issueKey('admin', { person: 'bob' })).key;
    grace = (await clients.create('seer', ['admin', 'audit:pii'], { person: 'grace' })).key;
    await clients.create('other', ['pay']);
    await clients.create('phone', ['pay'], { kind: 'public' });
    const provider = { tokenAudience: 'api', tokenJwksUri: `${ISSUER}/jwks`, tokenClientId: 'app' };
    await clients.update('phone', { tokenIssuer: ISSUER, ...provider });
    await clients.update('phone', {
      pageIssuer: PAGE_ISSUER,
      pageClientId: 'pages',
      origins: ['https://phone.example'],
    });
    await proxy.database.query(
      'UPDATE client SET person_daily_cap_usd = 10, person_requests_per_minute = 60 WHERE name = $1',
      ['phone'],
    );
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const limit = (body: object, key = ada) =>
    supertest(proxy.url).post(PERSONS).set('X-API-Key', key).send(body);
  const change = (id: string, body: object, key = ada) =>
    supertest(proxy.url)
      .patch(`${PERSONS}/${id}` as '/v1/clients/{name}/persons/{id}')
      .set('X-API-Key', key)
      .send(body);
  const list = async (query = '', key = ada) =>
    (await proxy.get(key, `${PERSONS}${query}` as typeof PERSONS).expect(200)).body;
  const idOf = async (name: string) => (await list(`?name=${name}`)).persons[0]?.id ?? '';
  const approve = async () => {
    const [waiting] = (await proxy.get(bob, '/v1/changes').expect(200)).body.changes;
    const path = `/v1/changes/${waiting?.id}/approve` as '/v1/changes/{id}/approve';
    const answer = await supertest(proxy.url).post(path).set('X-API-Key', bob).send({ reason: 'agreed' });
    return { waiting, answer };
  };
  const rightsOf = async () =>
    (await proxy.database.query("SELECT xmin::text FROM client WHERE name = 'phone'"))[0];

  it('can be set for an erased person, who returns under the same name and ID', async () => {
    const { body } = await limit({ name: 'heidi', issuer: ISSUER, max_item_usd: '1' }).expect(200);
    const erased = `UPDATE person
      SET name = NULL, salt = NULL, issuer = NULL, forget_after = now() + interval '31 days' WHERE id = $1`;
    await proxy.database.query(erased, [body.id]);
    const again = (await limit({ name: 'heidi', issuer: ISSUER, max_item_usd: '0.5' }).expect(200)).body;
    expect(again).toMatchObject({ id: body.id, name: 'heidi', issuer: ISSUER, max_item_usd: '0.5' });
  });

  it('can be below the default at once, for a person without calls', async () => {
    const before = await rightsOf();
    const { body } = await limit({ name: 'alice', daily_cap_usd: 2.5, max_item_usd: '1' }).expect(200);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'alice',
      issuer: null,
      first_seen_at: expect.any(String),
      revoked_at: null,
      daily_cap_usd: '2.5',
      monthly_cap_usd: null,
      max_item_usd: '1',
      requests_per_minute: null,
      usage: {
        daily: { cap_usd: '2.5', spent_usd: '0', left_usd: '2.5', resets_at: expect.any(String) },
        monthly: { cap_usd: null, spent_usd: '0', left_usd: null, resets_at: expect.any(String) },
      },
    });
    const [row] = await proxy.database.query(
      "SELECT p.sha256, p.client_id, octet_length(p.salt) AS salt FROM person p WHERE p.name = 'alice'",
    );
    expect(row).toMatchObject({ sha256: personHash(String(row?.client_id), null, 'alice'), salt: 16 });
    expect(await rightsOf()).not.toEqual(before); // no instance caches an earlier caller
  });

  it('waits for a second person if it raises a limit, and is recorded without the name', async () => {
    await limit({ name: 'sub-17', issuer: ISSUER, daily_cap_usd: 50, reason: 'Case 9' }).expect(202);
    const id = await idOf('sub-17');
    expect(await list('?name=sub-17')).toMatchObject({ persons: [{ issuer: ISSUER, daily_cap_usd: null }] });
    const { waiting, answer } = await approve();
    expect(waiting).toMatchObject({
      kind: 'change_client',
      client: 'phone',
      expands: ['person_daily_cap_usd'],
      before: { daily_cap_usd: null },
      after: { person_id: id, daily_cap_usd: '50' },
    });
    expect(answer.status).toBe(200);
    expect(await list('?name=sub-17')).toMatchObject({ persons: [{ id, daily_cap_usd: '50' }] });
    await change(id, { daily_cap_usd: 20 }).expect(200);
    await change(id, { daily_cap_usd: null }).expect(200);
    await change(id, { requests_per_minute: 61 }).expect(202);
    const acts = await proxy.database.query(
      `SELECT action, before, after FROM activity
       WHERE target_client = 'phone' AND after LIKE $1 ORDER BY acted_at, id`,
      [`%${id}%`],
    );
    expect(acts.map(({ action }) => action).join(' ')).toBe(
      'person_added change_requested person_limits_changed person_limits_changed person_limits_changed ' +
        'change_requested',
    );
    expect(acts[2]).toMatchObject({
      before: JSON.stringify({ daily_cap_usd: null, person_id: id }),
      after: JSON.stringify({ daily_cap_usd: '50', person_id: id }),
    });
    const everything = await proxy.database.query(
      `SELECT concat(before, after) AS text FROM activity
       UNION ALL SELECT concat(before, change) FROM pending_change`,
    );
    expect(JSON.stringify(everything)).not.toContain('sub-17');
    await proxy.get(ada, '/v1/activity?client=phone').expect(200); // the response schema has each field
  });

  it('applies to a person who signs in to pages', async () => {
    await limit({ name: 'sub-18', issuer: PAGE_ISSUER, daily_cap_usd: 3 }).expect(200);
    expect((await list('?name=sub-18')).persons).toMatchObject([{ issuer: PAGE_ISSUER, daily_cap_usd: '3' }]);
    const [person] = await proxy.database.query("SELECT client_id, sha256 FROM person WHERE name = 'sub-18'");
    expect(person?.sha256).toEqual(personHash(String(person?.client_id), PAGE_ISSUER, 'sub-18'));
  });

  it('is judged again at its approval', async () => {
    await limit({ name: 'carol', daily_cap_usd: 5 }).expect(200);
    const id = await idOf('carol');
    await change(id, { daily_cap_usd: 8 }).expect(202);
    await change(id, { daily_cap_usd: 1 }).expect(200);
    const { answer } = await approve();
    expect([answer.status, answer.body]).toMatchObject([409, { code: 'change_superseded' }]);
    expect(await list('?name=carol')).toMatchObject({ persons: [{ daily_cap_usd: '1' }] });
  });

  it('changes and records nothing if it is unchanged', async () => {
    await limit({ name: 'dave', daily_cap_usd: '5' }).expect(200);
    await limit({ name: 'dave', daily_cap_usd: '5.00' }).expect(200);
    const acts = await proxy.database.query('SELECT 1 FROM activity WHERE after LIKE $1', [
      `%${await idOf('dave')}%`,
    ]);
    expect(acts).toHaveLength(2); // created and limited
  });

  it('shows contacts among the names only to readers with access to people', async () => {
    await limit({ name: 'eve@example.com', issuer: ISSUER, daily_cap_usd: 1 }).expect(200);
    const [masked] = (await list()).persons;
    expect(masked?.name).toBe('e••@example.com');
    const [shown] = (await list('?name=eve@example.com', grace)).persons;
    expect(shown).toMatchObject({ id: masked?.id, name: 'eve@example.com' });
    const path = `${PERSONS}?name=eve@example.com` as typeof PERSONS;
    expect((await proxy.get(ada, path).expect(403)).body.code).toBe('scope_missing');
    await proxy.database.query('UPDATE person SET name = NULL, salt = NULL WHERE id = $1', [masked?.id]);
    const one = `${PERSONS}/${masked?.id}` as '/v1/clients/{name}/persons/{id}';
    expect((await proxy.get(grace, one).expect(200)).body).toMatchObject({ name: null, daily_cap_usd: '1' });
  });

  it("shows the person's spending, page by page", async () => {
    const id = await idOf('alice');
    await proxy.database.query(
      "INSERT INTO payer_spending VALUES ($1, (now() AT TIME ZONE 'UTC')::date, 1.25)",
      [id],
    );
    expect(await list('?name=alice')).toMatchObject({
      persons: [
        { usage: { daily: { spent_usd: '1.25', left_usd: '1.25' }, monthly: { spent_usd: '1.25' } } },
      ],
    });
    await change(id, { daily_cap_usd: 1 }).expect(200);
    const lowered = (await list('?name=alice')).persons[0]?.usage.daily;
    expect(lowered).toMatchObject({ cap_usd: '1', spent_usd: '1.25', left_usd: '0' });
    const all = (await list('?page_size=200')).persons.map((person) => person.id);
    const first = await list('?page_size=2');
    const second = await list(`?page_size=2&page_token=${first.next_page_token}`);
    expect([...first.persons, ...second.persons].map((person) => person.id)).toEqual(all.slice(0, 4));
  });

  it.each([
    [{ name: 'ada@example.com' }, '/name'],
    [{ name: '+254712345678' }, '/name'],
    [{ name: 'alice', issuer: 'https://evil.example' }, '/issuer'],
    [{ name: 'alice', daily_cap_usd: -1 }, '/daily_cap_usd'],
    [{ name: 'alice', max_item_usd: 0 }, '/max_item_usd'],
    [{ name: 'alice', requests_per_minute: 1.5 }, '/requests_per_minute'],
    [{ daily_cap_usd: 1 }, '/name'],
  ])('rejects %j', async (body, pointer) => {
    const answer = await limit(body).expect(400);
    expect(answer.body.errors).toMatchObject([{ pointer }]);
  });

  it('belongs to one client, and needs the scope `admin`', async () => {
    const id = await idOf('alice');
    const elsewhere = `/v1/clients/other/persons/${id}` as '/v1/clients/{name}/persons/{id}';
    expect((await proxy.get(ada, elsewhere).expect(404)).body.code).toBe('person_not_found');
    const moved = supertest(proxy.url).patch(elsewhere).set('X-API-Key', ada).send({ daily_cap_usd: 1 });
    expect((await moved.expect(404)).body.code).toBe('person_not_found');
    expect((await change('nobody', { daily_cap_usd: 1 }).expect(404)).body.code).toBe('person_not_found');
    const { key } = await proxy.client('auditor', 'audit', 'audit:pii', 'pay');
    await proxy.get(key, PERSONS).expect(403);
    await limit({ name: 'alice', daily_cap_usd: 1 }, key).expect(403);
    await change(id, { daily_cap_usd: 1 }, key).expect(403);
  });
});
