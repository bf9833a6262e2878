import { createHash } from 'node:crypto';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { isWellFormedKey } from '../../../src/access/clients/key';
import { askForKey, GRANT, mint } from '../../support/access/minting';
import supertest from '../../support/http/supertest';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

describe('the ephemeral keys API', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let shop: { id: string; name: string; key: string };

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    shop = await proxy.client('shop', 'pay', 'write', 'read', 'account');
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const change = (name: string, columns: string) =>
    proxy.database.query(`UPDATE client SET ${columns} WHERE name = '${name}'`);
  const remove = <const Path extends string>(key: string, path: Path) =>
    supertest(proxy.url).delete(path).set('X-API-Key', key);
  const faultsOf = async (key: string, more: object, code = 'wider_than_key') => {
    const { body } = await askForKey(proxy, key, more);
    expect(body).toMatchObject({ code, action: 'fix_request' });
    return (body as { errors?: { pointer: string; detail: string }[] }).errors?.map(({ pointer }) => pointer);
  };

  it('shows a new key once with all its rights, and stores its hash', async () => {
    const { body, headers } = await askForKey(proxy, shop.key, {
      countries: ['Kenya'],
      recipients: ['+254712345678'],
    }).expect(201);
    expect(headers['cache-control']).toBe('no-store');
    expect(isWellFormedKey(body.key)).toBe(true);
    expect(body).toEqual({
      key: expect.stringMatching(/^ppe_shop_/),
      id: expect.any(String),
      actor: 'ada',
      hint: `ppe_shop_…${body.key.slice(-4)}`,
      state: 'active',
      operations: GRANT.operations,
      countries: ['Kenya'],
      recipient_count: 1,
      max_item_usd: '5',
      max_total_usd: '20',
      spent_usd: '0',
      created_at: expect.any(String),
      expires_at: expect.any(String),
      revoked_at: null,
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(600_000);
    const stored = await proxy.database.query('SELECT * FROM ephemeral_key WHERE id = $1', [body.id]);
    expect(stored).toMatchObject([{ sha256: createHash('sha256').update(body.key).digest() }]);
    expect(JSON.stringify(stored)).not.toMatch(new RegExp(`254712345678|${body.key.slice(9)}`));
  });

  it('records the author, person and time of each key in the sealed log', async () => {
    const auditor = await proxy.client('auditor', 'audit');
    const { id, key, ...issued } = await mint(proxy, shop.key, { actor: 'grace' });
    const [keyOfShop] = await proxy.app.get(ClientsService, { strict: false }).listKeys('shop');
    const { body } = await proxy.get(auditor.key, '/v1/activity?action=ephemeral_key_issued').expect(200);
    const [person] = await proxy.database.query('SELECT person_id AS id FROM ephemeral_key WHERE id = $1', [
      id,
    ]);
    expect(body.activity[0]).toMatchObject({
      target: { client: { name: 'shop' }, key_id: id },
      by: { client: { name: 'shop' }, key_id: keyOfShop?.id },
      via: 'api',
      before: null,
      after: {
        person_id: person?.id,
        operations: GRANT.operations,
        max_total_usd: '20',
        expires_at: issued.expires_at,
      },
    });
    expect(body.activity[0]?.call_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.stringify(body)).not.toContain(key);
    expect(JSON.stringify(body)).not.toContain('grace');
    const { body: others } = await proxy.get(auditor.key, '/v1/activity').expect(200);
    expect(others.activity.map(({ action }) => action)).not.toContain('ephemeral_key_issued');
    expect(others.activity.length).toBeGreaterThan(0);
  });

  it.each([
    ['/actor', { actor: '+254712345678' }],
    ['/actor', { actor: undefined }],
    ['/operations', { operations: [] }],
    ['/operations', { operations: ['POST /payouts/everything'] }],
    ['/countries', { countries: [] }],
    ['/recipients', { recipients: [] }],
    ['/recipients/1', { recipients: ['ada@example.com', 'nobody'] }],
    ['/max_item', { max_item: 0 }],
    ['/max_item', { max_item: '1e3' }],
    ['/max_total', { max_total: -1 }],
    ['/max_total', { max_total: undefined }],
    ['/expires_in', { expires_in: 901 }],
    ['/expires_in', { expires_in: 0 }],
    ['/expires_in', { expires_in: 1.5 }],
    ['/expires_in', { expires_in: '60' }],
    ['/issuer', { issuer: 'https://login.example' }],
  ])('reports an error at %s for %j', async (pointer, more) => {
    expect(await faultsOf(shop.key, more, 'invalid_request')).toEqual([pointer]);
  });

  it('lists every right that exceeds the parent key', async () => {
    const narrow = await proxy.client('narrow', 'pay', 'account');
    await change('narrow', "operations = '{POST /payouts/airtime,GET /wallets/list}', max_item_usd = 4");
    await change('narrow', "countries = '{Kenya,Côte d''Ivoire}'");
    const wide = {
      operations: [
        'POST /payouts/airtime',
        'POST /payouts/credit',
        'GET /account/transaction',
        'GET /wallets/list',
      ],
      countries: ['Ghana', 'kenya', 'Cote d Ivoire'],
      max_item: 4.000001,
    };
    expect(await faultsOf(narrow.key, wide)).toEqual([
      '/operations/1',
      '/operations/2',
      '/operations/3',
      '/countries/0',
      '/max_item',
    ]);
    expect(
      await proxy.database.query(
        'SELECT FROM ephemeral_key e JOIN api_key k ON k.id = e.key_id WHERE k.client_id = $1',
        [narrow.id],
      ),
    ).toEqual([]);
    const countries = ['kenya', 'COTE D’IVOIRE', 'Kenya'];
    const issued = await mint(proxy, narrow.key, { countries, max_item: 4 });
    expect(issued.countries).toEqual(['Kenya', "Côte d'Ivoire"]);
  });

  it('rejects unknown countries', async () => {
    expect(await faultsOf(shop.key, { countries: ['Kenya', 'Kenia'] }, 'invalid_request')).toEqual([
      '/countries/1',
    ]);
  });

  it('caps each item by the limit of the person', async () => {
    await change('shop', 'person_max_item_usd = 3');
    expect(await faultsOf(shop.key, { max_item: 3.01 })).toEqual(['/max_item']);
    await change('shop', 'person_max_item_usd = NULL');
    await mint(proxy, shop.key, { max_item: 3.01 });
  });

  it('accepts only valid secret keys, not ephemeral keys, sessions or revoked keys', async () => {
    const { key } = await mint(proxy, shop.key);
    const refused = { code: 'secret_key_required' };
    expect((await askForKey(proxy, key).expect(403)).body).toMatchObject(refused);
    expect((await proxy.get(key, '/v1/ephemeral-keys').expect(403)).body).toMatchObject(refused);
    expect((await remove(key, '/v1/ephemeral-keys?actor=ada').expect(403)).body).toMatchObject(refused);
    expect(
      (await supertest(proxy.url).post('/v1/session').set('X-API-Key', key).expect(403)).body,
    ).toMatchObject(refused);

    const signedIn = await supertest(proxy.url).post('/v1/session').set('X-API-Key', shop.key).expect(200);
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    const bySession = await supertest(proxy.url)
      .post('/v1/ephemeral-keys')
      .set({ Cookie: cookie, 'X-CSRF-Token': signedIn.body.csrf_token })
      .send(GRANT)
      .expect(403);
    expect(bySession.body).toMatchObject(refused);

    const clients = proxy.app.get(ClientsService, { strict: false });
    const other = await clients.issueKey('shop');
    await clients.revokeKey(other.id);
    await askForKey(proxy, other.key).expect(401);
    await askForKey(proxy, (await proxy.client('admins', 'admin', 'audit')).key).expect(403);
  });

  it('lets a personal key issue, list and revoke keys of its owner only', async () => {
    const { key } = await proxy.app
      .get(ClientsService, { strict: false })
      .issueKey('shop', { person: 'linus' });
    expect(await faultsOf(key, { actor: 'ada' })).toEqual(['/actor']);
    const { id } = await mint(proxy, key, { actor: 'linus' });
    const others = await mint(proxy, shop.key);
    const { body } = await proxy.get(key, '/v1/ephemeral-keys').expect(200);
    expect(body.ephemeral_keys.map((listed) => listed.id)).toEqual([id]);
    await remove(key, `/v1/ephemeral-keys/${others.id}`).expect(404);
    expect((await remove(key, '/v1/ephemeral-keys?actor=ada').expect(200)).body).toEqual({ revoked: [] });
  });

  it('lists keys of its own client in pages without secrets', async () => {
    const lister = await proxy.client('lister', 'pay');
    const ids: string[] = [];
    for (const actor of ['ada', 'grace', 'ada']) ids.unshift((await mint(proxy, lister.key, { actor })).id);
    const page = async (query: string, key = lister.key) =>
      (await proxy.get(key, `/v1/ephemeral-keys?${query}`).expect(200)).body;
    const first = await page('page_size=2');
    expect(first.ephemeral_keys.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const second = await page(`page_size=2&page_token=${first.next_page_token}`);
    expect(second.ephemeral_keys.map(({ id }) => id)).toEqual(ids.slice(2));
    expect(second.next_page_token).toBeNull();
    expect((await page('actor=grace')).ephemeral_keys.map(({ id }) => id)).toEqual([ids[1]]);
    expect((await page('', shop.key)).ephemeral_keys.filter(({ id }) => ids.includes(id))).toEqual([]);
    expect(JSON.stringify(first)).not.toMatch(/"key"|ppe_lister_[0-9A-Za-z]/);
  });
});
