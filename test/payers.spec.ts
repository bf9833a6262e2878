import { ClientsService } from '../src/access/clients/clients.service';
import { EphemeralScene } from './support/ephemeral-scene';
import { mint } from './support/minting';
import supertest from './support/supertest';
import { createTestDatabase } from './support/test-database';

/** Caps that cannot be read are not exceeded either. Rows of people vanish only by hand, or with a database that lost them. */
describe('a payment whose person or ephemeral key is not in the database', () => {
  let scene: EphemeralScene;

  beforeAll(async () => (scene = await EphemeralScene.start()));
  afterAll(() => scene.close());

  const pay = (key: string, actor: string) => scene.pay(key).set('X-Actor', actor);
  const cappedApp = async () => {
    const app = await scene.app();
    await scene.change(app.id, 'person_daily_cap_usd = 2');
    return app;
  };
  const losePerson = (clientId: string, name: string) =>
    scene.database.query('DELETE FROM person WHERE client_id = $1 AND name = $2', [clientId, name]);
  const spentBy = async (clientId: string, name: string) => {
    const [row] = await scene.database.query(
      `SELECT coalesce(sum(s.usd), 0)::float AS usd FROM person p JOIN payer_spending s ON s.payer_id = p.id
       WHERE p.client_id = $1 AND p.name = $2`,
      [clientId, name],
    );
    return row?.usd;
  };

  it('is not sent, and the person is added for the next one', async () => {
    const { id, key } = await cappedApp();
    await pay(key, 'alice').expect(200);
    await losePerson(id, 'alice');
    await scene.expectNothingSent(() => pay(key, 'alice').expect(503), 'database_unavailable');
    await pay(key, 'alice').expect(200);
    expect(await spentBy(id, 'alice')).toBe(1);
    await pay(key, 'alice').expect(200);
    await scene.expectNothingSent(() => pay(key, 'alice').expect(403), 'cap_exceeded');
  });

  it('holds up nobody whose request is decided with it', async () => {
    const { id, key } = await cappedApp();
    const [lost, kept] = ['alice', 'bob'];
    for (const name of [lost, kept]) await pay(key, name).expect(200);
    await losePerson(id, lost);
    const answers = await Promise.all([lost, kept].map((name) => pay(key, name)));
    expect(answers.map(({ status }) => status)).toEqual([503, 200]);
    expect(await spentBy(id, kept)).toBe(2);
  });

  it('is refused for good if the ephemeral key is gone', async () => {
    const { key } = await scene.app();
    const { id, key: ephemeral } = await mint(scene.proxy, key);
    await scene.pay(ephemeral).expect(200);
    await scene.database.query('DELETE FROM ephemeral_key WHERE id = $1', [id]);
    await scene.expectNothingSent(() => scene.pay(ephemeral).expect(401), 'ephemeral_key_ended');
  });

  it('is not approved', async () => {
    const { id, key } = await cappedApp();
    await scene.change(id, 'approval_over_usd = 0');
    await scene.proxy.client('approvers', 'approve');
    const clients = scene.proxy.app.get(ClientsService, { strict: false });
    const { key: approver } = await clients.issueKey('approvers', { person: 'grace' });
    const held = await pay(key, 'alice').expect(202);
    await losePerson(id, 'alice');
    const path = `/v1/approvals/${held.headers['x-call-id'] ?? ''}/approve` as const;
    const approve = () => supertest(scene.proxy.url).post(path).set('X-API-Key', approver).send({ reason: 'agreed' });
    await scene.expectNothingSent(() => approve().expect(409), 'no_longer_allowed');
  });
});

describe('the caps of a payment', () => {
  it('are looked up, however many people there are', async () => {
    const database = await createTestDatabase();
    await database.query("INSERT INTO client (id, name, scopes) VALUES (gen_random_uuid(), 'app', '{pay}')");
    await database.query(
      `INSERT INTO person (id, client_id, sha256, name, salt)
       SELECT gen_random_uuid(), c.id, sha256(n::text::bytea), n, 'salt' FROM client c CROSS JOIN generate_series(1, 5000) AS n`,
    );
    await database.query('BEGIN');
    const [checked] = await database.query(
      "SELECT payers_within_caps(ARRAY(SELECT id FROM person LIMIT 1), '{1}', current_date) AS ok",
    );
    const [read] = await database.query(
      "SELECT (seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'person'",
    );
    await database.query('ROLLBACK');
    expect(checked).toEqual({ ok: true });
    expect(read?.rows).toBeLessThan(10);
    await database.close();
  });
});
