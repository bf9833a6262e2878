import { auditCommands } from '../../../src/cli/audit/audit';
import { newSigningKey } from '../../../src/history/log/note';
import { beginEpoch } from '../../../src/journal/stops/recovery-gap';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { Cookies } from '../../support/access/provider/flow';
import { cookiesAtProvider, endSession, open, signOutAt } from '../../support/access/signing-in';
import {
  approachPageCallback,
  createPageClient,
  ofPage,
  PAGE_ORIGIN,
  PageClient,
  PageScene,
  PageVisitor,
  payOnPage,
  signInToPage,
  startPageScene,
} from '../../support/console/page-scene';
import { removeExpired } from '../../support/databases/expiry';
import supertest from '../../support/http/supertest';
import { cliOf } from '../../support/processes/cli';

const KEY = newSigningKey('test');
const audit = cliOf(auditCommands);

/** Every test signs in and pays, makes a change on one instance, and sends requests to both. */
describe('a page session', () => {
  let scene: PageScene;
  let admin: string;

  beforeAll(async () => {
    scene = await startPageScene({ logSigningKey: new Secret(KEY) });
    const { url, ownerUrl } = scene.proxy.database;
    Object.assign(process.env, { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, LOG_SIGNING_KEY: KEY });
    admin = (await scene.proxy.client('admin', 'admin')).key;
  });
  afterAll(async () => {
    delete process.env.LOG_SIGNING_KEY;
    await scene.close();
  });

  let clients = 0;
  async function newClient(): Promise<PageClient> {
    return createPageClient(scene.proxy, scene.provider, `app-${(clients += 1)}`);
  }
  const signIn = (client: PageClient, sub = 'alice', cookies = new Cookies()) =>
    signInToPage(scene.proxy.url, sub, { client: client.name, cookies });

  /** Returns the codes of both instances for a payment and a read. */
  async function answers(visitor: PageVisitor): Promise<string[]> {
    const requests = [scene.proxy.url, scene.second.url].flatMap((url) => [
      payOnPage(url, visitor),
      supertest(url).get('/v1/limits').set(ofPage(visitor)),
    ]);
    return Promise.all(requests.map(async (request) => String((await request).body.code ?? 'done')));
  }
  const DONE = ['done', 'done', 'done', 'done'];
  const ENDED = DONE.map(() => 'session_ended');
  const query = (sql: string, values: unknown[] = []) => scene.proxy.database.query(sql, values);

  it('ends when its page key is revoked', async () => {
    const client = await newClient();
    const alice = await signIn(client);
    expect(await answers(alice)).toEqual(DONE);
    await supertest(scene.second.url)
      .delete(`/v1/clients/${client.name}/keys/${client.pageKeyId}`)
      .set('X-API-Key', admin)
      .expect(200);
    expect(await answers(alice)).toEqual(ENDED);
    const { status } = await open(
      new Cookies(),
      `${scene.proxy.url}/session/pages/${client.name}/sign-in?return_to=x`,
    );
    expect(status).toBe(404);
  });

  it('ends when its person is revoked, and other sessions continue', async () => {
    const client = await newClient();
    const [alice, bob] = [await signIn(client), await signIn(client, 'bob')];
    expect([await answers(alice), await answers(bob)]).toEqual([DONE, DONE]);
    await supertest(scene.second.url)
      .post(`/v1/clients/${client.name}/persons/revoke`)
      .set('X-API-Key', admin)
      .send({ issuer: scene.provider.issuer, name: 'alice', reason: 'lost phone' })
      .expect(200);
    expect([await answers(alice), await answers(bob)]).toEqual([ENDED, DONE]);
    expect(await answers(await signIn(client))).toEqual(DONE); // signed in again
  });

  it('ends when its person is erased, and leaves no row', async () => {
    const client = await newClient();
    const alice = await signIn(client);
    expect(await answers(alice)).toEqual(DONE);
    const [{ id } = {}] = await query('SELECT id FROM person WHERE client_id = $1', [client.id]);
    const { exitCode = 0 } = await audit(
      'erase',
      '--person',
      'alice',
      '--client',
      client.name,
      '--reason',
      'case 18',
      '--yes',
    );
    expect(exitCode).toBe(0);
    expect(await answers(alice)).toEqual(ENDED);
    expect(await query('SELECT FROM page_session WHERE person_id = $1', [id])).toEqual([]);
  });

  it('ends after half an hour idle, and its row is removed', async () => {
    const client = await newClient();
    const alice = await signIn(client);
    const idle = (minutes: number) =>
      query(`UPDATE page_session SET used_at = now() - interval '${minutes} minutes' WHERE key_id = $1`, [
        client.pageKeyId,
      ]);
    await idle(29);
    expect(await answers(alice)).toEqual(DONE);
    const [row] = await query(
      "SELECT used_at > now() - interval '1 minute' AS used FROM page_session WHERE key_id = $1",
      [client.pageKeyId],
    );
    expect(row).toEqual({ used: true });
    await idle(31);
    expect(await answers(alice)).toEqual(ENDED);
    await removeExpired(scene.proxy);
    expect(await query('SELECT FROM page_session WHERE key_id = $1', [client.pageKeyId])).toEqual([]);
  });

  it('ends after twelve hours, even in use', async () => {
    const client = await newClient();
    const alice = await signIn(client);
    const [before] = await query(
      `UPDATE page_session SET created_at = now() - interval '12 hours 1 second'
       WHERE key_id = $1 RETURNING used_at`,
      [client.pageKeyId],
    );
    expect(await answers(alice)).toEqual(ENDED);
    expect(await query('SELECT used_at FROM page_session WHERE key_id = $1', [client.pageKeyId])).toEqual([
      before,
    ]);
  });

  it('ends when the provider ends its session', async () => {
    const client = await newClient();
    const first = await signIn(client);
    const elsewhere = await signIn(client);
    const second = await signIn(client, 'alice', cookiesAtProvider(first.cookies));
    const address = `${scene.proxy.url}/v1/page-sessions/${client.name}`;
    const { endSessionUrl } = await endSession(address, second.cookies, ofPage(second));
    expect(await answers(first)).toEqual(DONE);
    await signOutAt(endSessionUrl, second.cookies);
    expect([await answers(first), await answers(elsewhere)]).toEqual([ENDED, DONE]);
  });

  it('ends for good when its origin is removed, and sessions of other origins continue', async () => {
    const name = `app-${(clients += 1)}`;
    const other = 'http://localhost:5173';
    const client = await createPageClient(scene.proxy, scene.provider, name, {
      origins: [PAGE_ORIGIN, other],
    });
    const here = await signIn(client);
    const elsewhere = await signInToPage(scene.proxy.url, 'bob', { client: name, returnTo: `${other}/pay` });
    const begun = await approachPageCallback(scene.proxy.url, 'alice', { client: name });
    expect([await answers(here), await answers(elsewhere)]).toEqual([DONE, DONE]);
    await supertest(scene.second.url)
      .patch(`/v1/clients/${name}`)
      .set('X-API-Key', admin)
      .send({ origins: [other] })
      .expect(200);
    expect(await answers(here)).toEqual(ENDED);
    expect((await open(begun.cookies, begun.callback)).status).toBe(400);
    await query('UPDATE client SET origins = array_append(origins, $2) WHERE id = $1', [
      client.id,
      PAGE_ORIGIN,
    ]);
    expect([await answers(here), await answers(elsewhere)]).toEqual([ENDED, DONE]);
  });

  it('ends when its client no longer has its origin', async () => {
    const client = await newClient();
    const alice = await signIn(client);
    await query("UPDATE client SET origins = '{http://other.proxy.test}' WHERE id = $1", [client.id]);
    expect(await answers(alice)).toEqual(ENDED);
  });

  it('loses the scopes that its client loses', async () => {
    const client = await newClient();
    const alice = await signIn(client);
    expect(await answers(alice)).toEqual(DONE);
    await query("UPDATE client SET scopes = '{read}' WHERE id = $1", [client.id]);
    expect(await answers(alice)).toEqual(['scope_missing', 'done', 'scope_missing', 'done']);
  });

  it('ends after a recovery, because the database may lack its end', async () => {
    const client = await newClient();
    const alice = await signIn(client);
    expect(await answers(alice)).toEqual(DONE);
    await beginEpoch(scene.proxy.app.get(PrismaService), { reason: 'a drill', actor: null, seen: 0 });
    expect(await answers(alice)).toEqual(ENDED);
    expect(await answers(await signIn(client))).toEqual(DONE);
  });
});
