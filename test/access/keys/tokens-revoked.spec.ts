import { ClientsService } from '../../../src/access/clients/clients.service';
import { SKEW_SECONDS } from '../../../src/access/tokens/access-token';
import { clientsCommands } from '../../../src/cli/clients/clients';
import { beginEpoch } from '../../../src/journal/stops/recovery-gap';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { createTokenClient, TokenClient } from '../../support/access/token-client';
import {
  bearer,
  payAirtime,
  readLimits,
  startTokenScene,
  TokenScene,
} from '../../support/access/token-scene';
import { first } from '../../support/examples/first';
import supertest from '../../support/http/supertest';
import { cliOf } from '../../support/processes/cli';

const NOBODY = '019ac000-0000-7000-8000-000000000000';

/** Every test pays on one instance, which caches the caller, and then changes the database elsewhere. */
describe('token revocation', () => {
  let scene: TokenScene;
  let admin: string;

  beforeAll(async () => {
    scene = await startTokenScene();
    admin = (await scene.proxy.client('admin', 'admin')).key;
  });
  afterAll(() => scene.close());

  let clients = 0;
  /** Creates a client with its own app at the provider. */
  async function newClient(
    dpop = false,
  ): Promise<TokenClient & { token: (claims?: object) => Promise<string> }> {
    const clientId = `app-${(clients += 1)}`;
    const { issuer, proxy } = scene;
    const { issuer: name, audience, jwksUri } = issuer;
    const provider = { issuer: name, audience, jwksUri, clientId };
    const client = await createTokenClient(proxy.database, clientId, provider, { dpop });
    return { ...client, token: (claims = {}) => issuer.token({ ...claims, client_id: clientId }) };
  }

  /** Returns the codes of both instances for a payment and a read. */
  async function answers(token: string): Promise<string[]> {
    const requests = [scene.proxy, scene.second].flatMap((proxy) => [
      payAirtime(proxy, bearer(token)),
      readLimits(proxy, bearer(token)),
    ]);
    return Promise.all(requests.map(async (request) => String((await request).body.code ?? 'done')));
  }

  const DONE = ['done', 'done', 'done', 'done'];
  const REFUSED = DONE.map(() => 'invalid_token');

  const revoke = (client: string, body: object) =>
    supertest(scene.second.url)
      .post(`/v1/clients/${client}/persons/revoke`)
      .set('X-API-Key', admin)
      .send(body);

  it('affects one person at once on every instance', async () => {
    const { name, token } = await newClient();
    const [alice, bob] = [await token(), await token({ sub: 'bob' })];
    expect([await answers(alice), await answers(bob)]).toEqual([DONE, DONE]);
    const { issuer } = scene.issuer;
    const { body } = await revoke(name, { issuer, name: 'alice', reason: 'lost phone' }).expect(200);
    expect([await answers(alice), await answers(bob)]).toEqual([REFUSED, DONE]);
    const { text } = await payAirtime(scene.proxy, bearer(alice));
    expect(text).toContain('Sign in again');
    const acts = await supertest(scene.proxy.url)
      .get('/v1/activity?action=person_revoked')
      .set('X-API-Key', admin);
    expect((acts.body as unknown as { activity: unknown[] }).activity[0]).toMatchObject({
      before: { person_id: body.person_id, revoked_at: null },
      after: { person_id: body.person_id, revoked_at: body.revoked_at },
      reason: 'lost phone',
    });
    expect(JSON.stringify(acts.body)).not.toContain('alice');
  });

  it('admits tokens of a later sign-in', async () => {
    const { id, name, token } = await newClient();
    const old = await token();
    await revoke(name, { issuer: scene.issuer.issuer, name: 'alice' }).expect(200);
    const persons = await scene.proxy.database.query<{ revoked_at: Date }>(
      `UPDATE person SET revoked_at = revoked_at - interval '1 minute'
       WHERE client_id = $1 RETURNING revoked_at`,
      [id],
    );
    await scene.proxy.database.query('UPDATE client SET name = name WHERE id = $1', [id]);
    const revokedAt = Math.floor(first(persons).revoked_at.getTime() / 1_000);
    expect(await answers(await token({ iat: revokedAt + SKEW_SECONDS }))).toEqual(REFUSED);
    expect(await answers(old)).toEqual(DONE);
  });

  it('covers unknown and erased persons', async () => {
    const { id, name, token } = await newClient();
    const { issuer } = scene.issuer;
    await revoke(name, { issuer, name: 'mallory' }).expect(200);
    expect(await answers(await token({ sub: 'mallory' }))).toEqual(REFUSED);
    const eve = await token({ sub: 'eve' });
    expect(await answers(eve)).toEqual(DONE);
    await revoke(name, { issuer, name: 'eve' }).expect(200);
    await scene.proxy.database.query('UPDATE person SET name = NULL, salt = NULL WHERE client_id = $1', [id]);
    expect(await answers(eve)).toEqual(REFUSED);
  });

  it('by person ID takes effect at once, for the client of the person only', async () => {
    const { id, name, token } = await newClient();
    const other = await newClient();
    const [alice, bob] = [await token(), await token({ sub: 'bob' })];
    expect([await answers(alice), await answers(bob)]).toEqual([DONE, DONE]);
    const [person] = await scene.proxy.database.query(
      'SELECT id FROM person WHERE client_id = $1 AND name = $2',
      [id, 'alice'],
    );
    const known = { person_id: String(person?.id) };
    expect((await revoke(other.name, known).expect(404)).body.code).toBe('person_not_found');
    expect([await answers(alice), await answers(bob)]).toEqual([DONE, DONE]);
    const { body: first } = await revoke(name, known).expect(200);
    const { body: second } = await revoke(name, { ...known, reason: 'Case 17' }).expect(200);
    expect([first.is_new, second.is_new]).toEqual([false, false]);
    expect([await answers(alice), await answers(bob)]).toEqual([REFUSED, DONE]);
    const { body } = await scene.proxy.get(admin, '/v1/activity?action=person_revoked').expect(200);
    expect(body.activity[0]).toMatchObject({
      before: { ...known, revoked_at: first.revoked_at },
      after: { ...known, revoked_at: second.revoked_at },
      reason: 'Case 17',
    });
  });

  it.each([
    [{}, ['/name']],
    [{ issuer: 'https://id.example' }, ['/name']],
    [{ person_id: 'alice' }, ['/person_id']],
    [{ person_id: NOBODY, name: 'alice', issuer: 'https://id.example' }, ['/name', '/issuer']],
  ])('rejects %j, which does not identify exactly one person', async (body, pointers) => {
    const { errors } = (await revoke('admin', body).expect(400)).body as { errors?: { pointer: string }[] };
    expect(errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });

  it('takes effect at once from the command line', async () => {
    const { name, token } = await newClient();
    const alice = await token();
    expect(await answers(alice)).toEqual(DONE);
    const { database } = scene.proxy;
    process.env.DATABASE_URL = database.url;
    process.env.DATABASE_OWNER_URL = database.ownerUrl;
    const command = (...options: string[]) =>
      cliOf(clientsCommands)('persons', 'revoke', '--client', name, '--json', ...options);
    const { stdout } = await command('--name', 'alice', '--issuer', scene.issuer.issuer);
    const { person_id: id } = JSON.parse(stdout) as { person_id: string };
    expect(await answers(alice)).toEqual(REFUSED);
    const byId = JSON.parse((await command('--id', id)).stdout) as { person_id: string };
    expect(byId).toEqual({ person_id: id, revoked_at: expect.any(String), is_new: false });
    const mistaken = await command('--name', 'alice'); // another person, without the issuer
    expect(JSON.parse(mistaken.stdout)).toMatchObject({ is_new: true });
    for (const options of [['--id', id, '--name', 'alice'], ['--issuer', scene.issuer.issuer], []])
      await expect(command(...options)).rejects.toThrow('either --id');
  });

  it('blocks approval of held calls of the person', async () => {
    const { id, name, token } = await newClient();
    const { proxy, issuer } = scene;
    await proxy.database.query('UPDATE client SET approval_over_usd = 0 WHERE id = $1', [id]);
    const client = await proxy.client(`approvers-${name}`, 'approve');
    const keys = proxy.app.get(ClientsService, { strict: false });
    const { key: approver } = await keys.issueKey(client.name, { person: 'grace' });
    const held = await payAirtime(proxy, bearer(await token())).expect(202);
    await revoke(name, { issuer: issuer.issuer, name: 'alice' }).expect(200);
    const path = `/v1/approvals/${held.headers['x-call-id'] ?? ''}` as const;
    const shown = await proxy.get(approver, path).expect(200);
    expect(shown.body).toMatchObject({ not_allowed: { code: 'key_revoked' } });
    const approval = supertest(proxy.url).post(`${path}/approve`).set('X-API-Key', approver);
    expect((await approval.send({ reason: 'agreed' }).expect(409)).body.code).toBe('key_revoked');
  });

  it.each([
    ['the provider key is revoked', 'UPDATE api_key SET revoked_at = now() WHERE client_id = $1'],
    ['the audience changes', "UPDATE client SET token_audience = 'https://new.example' WHERE id = $1"],
    ['the algorithms change', "UPDATE client SET token_algorithms = '{RS256}' WHERE id = $1"],
    ['the app changes', "UPDATE client SET token_client_id = 'new-app' WHERE id = $1"],
    ['the issuer changes', "UPDATE client SET token_issuer = 'https://new.example' WHERE id = $1"],
    [
      'the provider is removed',
      `UPDATE client SET token_issuer = NULL, token_audience = NULL, token_jwks_uri = NULL,
         token_algorithms = '{}', token_client_id = NULL WHERE id = $1`,
    ],
  ])('ends all tokens of a client at once when %s', async (_case, change) => {
    const { id, token } = await newClient();
    const tokens = [await token(), await token({ sub: 'bob' })];
    for (const each of tokens) expect(await answers(each)).toEqual(DONE);
    await scene.proxy.database.query(change, [id]);
    for (const each of tokens) expect(await answers(each)).toEqual(REFUSED);
  });

  it('rejects bearer tokens as soon as the client requires DPoP', async () => {
    const { id, token } = await newClient();
    const unbound = await token();
    expect(await answers(unbound)).toEqual(DONE);
    await scene.proxy.database.query('UPDATE client SET token_dpop = TRUE WHERE id = $1', [id]);
    expect(await answers(unbound)).toEqual(DONE.map(() => 'use_dpop'));
  });

  it('rejects tokens over the age limit as soon as the client lowers it', async () => {
    const { id, token } = await newClient();
    const old = await token({ iat: Math.floor(Date.now() / 1_000) - 100 });
    expect(await answers(old)).toEqual(DONE);
    await scene.proxy.database.query('UPDATE client SET token_max_age = 60 WHERE id = $1', [id]);
    expect(await answers(old)).toEqual(DONE.map(() => 'token_expired'));
  });

  it('narrows tokens at once when the client loses a scope', async () => {
    const { id, token } = await newClient();
    const alice = await token();
    expect(await answers(alice)).toEqual(DONE);
    await scene.proxy.database.query("UPDATE client SET scopes = '{read}' WHERE id = $1", [id]);
    expect(await answers(alice)).toEqual(['scope_missing', 'done', 'scope_missing', 'done']);
  });

  it('covers all tokens from before a recovery, because revocations may be lost', async () => {
    const { token } = await newClient();
    const alice = await token();
    expect(await answers(alice)).toEqual(DONE);
    await beginEpoch(scene.proxy.app.get(PrismaService), { reason: 'a drill', actor: null, seen: 0 });
    expect(await answers(alice)).toEqual(DONE.map(() => 'token_expired'));
    await scene.proxy.database.query(
      "UPDATE epoch SET started_at = started_at - interval '15 s' WHERE number > 1",
    );
    expect(await answers(await token({ jti: 'signed-in-again' }))).toEqual(DONE);
  });
});
