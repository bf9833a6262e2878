import { ClientsService } from '../../../src/access/clients/clients.service';
import { signInsCommands } from '../../../src/cli/clients/sign-ins';
import { atProvider } from '../../support/access/signing-in';
import supertest from '../../support/http/supertest';
import { cliOf } from '../../support/processes/cli';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const ISSUER = 'https://login.example.com';

describe('the grant of a sign-in', () => {
  let proxy: TestProxy;
  let ada: string;
  let bob: string;

  beforeAll(async () => {
    proxy = await startProxy({
      upstreamBaseUrl: 'http://127.0.0.1:9',
      dualControl: true,
      ...atProvider(ISSUER),
    });
    const clients = proxy.app.get(ClientsService, { strict: false });
    for (const name of ['admin', 'other-admin']) await clients.create(name, ['admin']);
    await clients.create('approvers', ['approve']);
    await clients.create('readers', ['read']);
    ada = (await clients.issueKey('admin', { person: 'ada' })).key;
    bob = (await clients.issueKey('other-admin', { person: 'bob' })).key;
  });
  afterAll(() => proxy.close());

  const allow = (client: 'approvers' | 'readers', body: object, key = ada) =>
    supertest(proxy.url).post(`/v1/clients/${client}/sign-ins`).set('X-API-Key', key).send(body);
  const keysOf = async (client: string) =>
    (await proxy.get(ada, `/v1/clients/${client as 'readers'}/keys`).expect(200)).body as {
      keys: { kind: string; subject: string | null }[];
    };

  it('waits for a second person, who sees the subject', async () => {
    const { body } = await allow('approvers', { person: 'grace', subject: '00u1' }).expect(202);
    expect(await keysOf('approvers')).toMatchObject({ keys: [{ kind: 'secret' }] });
    const { body: pending } = await proxy.get(bob, '/v1/changes').expect(200);
    expect(pending).toMatchObject({
      changes: [{ client: 'approvers', after: { person: 'grace', issuer: ISSUER, subject: '00u1' } }],
    });
    const change = String((body as { change_id?: string }).change_id);
    await supertest(proxy.url)
      .post(`/v1/changes/${change}/approve`)
      .set('X-API-Key', bob)
      .send({ reason: 'Case 17' })
      .expect(200);
    expect(await keysOf('approvers')).toMatchObject({
      keys: [{ kind: 'secret' }, { kind: 'sign_in', subject: '00u1' }],
    });
  });

  it('waits even for a read-only client', async () => {
    const { body } = await allow('readers', {
      person: 'hopper',
      subject: 'auth0|5f7c8ec7c33c6c004bbafe82',
    }).expect(202);
    expect(body).toMatchObject({ status: 'pending_approval' });
  });

  it('separates conflicting scopes of one person across sign-ins and keys', async () => {
    const { body } = await allow('approvers', { person: 'ADA', subject: '00u2' }).expect(409);
    expect(body).toMatchObject({ code: 'incompatible_scopes' });
  });

  it.each([
    [{ person: 'grace@example.com', subject: '00u3' }, '/person'],
    [{ person: 'grace', subject: 'grace@example.com' }, '/subject'],
    [{ person: 'grace', subject: '+254 712 345 678' }, '/subject'],
    [{ person: 'grace', subject: '' }, '/subject'],
    [{ person: 'grace' }, '/subject'],
    [{ subject: '00u3' }, '/person'],
  ])('rejects %j, because records are permanent', async (request, pointer) => {
    const { body } = await allow('readers', request).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer }] });
  });

  it('requires a provider', async () => {
    const without = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9' });
    const { key } = await without.client('admin', 'admin');
    const answer = await supertest(without.url)
      .post('/v1/clients/admin/sign-ins')
      .set('X-API-Key', key)
      .send({ person: 'ada', subject: '00u1' })
      .expect(409);
    expect(answer.body.code).toBe('no_provider');
    expect((await fetch(`${without.url}/session/sign-in`)).status).toBe(404);
    await without.close();
  });

  it('is available as a command', async () => {
    const { url, ownerUrl } = proxy.database;
    const database = { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, DUAL_CONTROL: 'false' };
    Object.assign(process.env, database, { OIDC_ISSUER: ISSUER, OIDC_CLIENT_ID: 'console' });
    const cli = cliOf(signInsCommands);
    const args = ['allow', '--client', 'readers', '--person', 'lovelace', '--subject', '00u4', '--json'];
    const { stdout } = await cli(...args);
    expect(JSON.parse(stdout)).toEqual({ id: expect.any(String) });
    await expect(cli(...args)).rejects.toThrow('already signs in to the client readers');
    delete process.env.OIDC_ISSUER;
    await expect(cli(...args)).rejects.toThrow('Set OIDC_ISSUER and OIDC_CLIENT_ID');
  });
});
