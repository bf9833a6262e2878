import { ClientsService } from '../../src/access/clients/clients.service';
import { EphemeralScene } from '../support/access/ephemeral-scene';
import { mint } from '../support/access/minting';
import { createTestDatabase } from '../support/databases/test-database';
import supertest from '../support/http/supertest';
import { reset } from '../support/network/fake-upstream';
import { AIRTIME } from '../support/payments/paying';

/** Without its payer, the caps of a payment are unknown. Payers vanish by manual SQL or a restore. */
describe('a payment with a person or ephemeral key missing from the database', () => {
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

  it('does not delay other requests of its batch', async () => {
    const { id, key } = await cappedApp();
    const [lost, kept] = ['alice', 'bob'];
    for (const name of [lost, kept]) await pay(key, name).expect(200);
    await losePerson(id, lost);
    const answers = await Promise.all([lost, kept].map((name) => pay(key, name)));
    expect(answers.map(({ status }) => status)).toEqual([503, 200]);
    expect(await spentBy(id, kept)).toBe(2);
  });

  it('is refused for good without its ephemeral key', async () => {
    const { key } = await scene.app();
    const { id, key: ephemeral } = await mint(scene.proxy, key);
    await scene.pay(ephemeral).expect(200);
    await scene.database.query('DELETE FROM ephemeral_key WHERE id = $1', [id]);
    await scene.expectNothingSent(() => scene.pay(ephemeral).expect(401), 'ephemeral_key_ended');
  });

  it('cannot be approved', async () => {
    const { id, key } = await cappedApp();
    await scene.change(id, 'approval_over_usd = 0');
    await scene.proxy.client('approvers', 'approve');
    const clients = scene.proxy.app.get(ClientsService, { strict: false });
    const { key: approver } = await clients.issueKey('approvers', { person: 'grace' });
    const held = await pay(key, 'alice').expect(202);
    await losePerson(id, 'alice');
    const path = `/v1/approvals/${held.headers['x-call-id'] ?? ''}/approve` as const;
    const approve = () =>
      supertest(scene.proxy.url).post(path).set('X-API-Key', approver).send({ reason: 'agreed' });
    await scene.expectNothingSent(() => approve().expect(409), 'no_longer_allowed');
  });
});

describe('the amount counted on the caps of a person and an ephemeral key', () => {
  let scene: EphemeralScene;

  beforeAll(async () => (scene = await EphemeralScene.start()));
  afterAll(() => scene.close());

  it('drops once on both for released parts of a payment in doubt, and rises for paid ones', async () => {
    const { key: secret } = await scene.app();
    await scene.proxy.client('settlers', 'approve');
    const clients = scene.proxy.app.get(ClientsService, { strict: false });
    const { key: approver } = await clients.issueKey('settlers', { person: 'grace' });
    const { key, id: keyId } = await mint(scene.proxy, secret);
    scene.upstream.behaviour = reset;
    const airtimes = [3, 2].map((usd, index) => ({
      ...AIRTIME.airtimes[0],
      phoneNumber: `+25471234567${index}`,
      valueInUSD: usd,
    }));
    const { headers } = await scene.proxy.post(key, '/payouts/airtime', { airtimes }).expect(502);
    const call = headers['x-call-id'] ?? '';
    const counted = async () => {
      const both = await scene.database.query(
        `SELECT trim_scale(s.usd)::text AS usd FROM ephemeral_key e
          JOIN payer_spending s ON s.payer_id IN (e.id, e.person_id) WHERE e.id = $1`,
        [keyId],
      );
      return both.map(({ usd }) => usd);
    };
    const settle = async (outcome: string, more: object = {}) => {
      const { status, body } = await supertest(scene.proxy.url)
        .post(`/v1/calls/${call}/resolution`)
        .set('X-API-Key', approver)
        .send({ outcome, reason: 'confirmed by the provider', ...more });
      return { status, id: body.settlements?.[0]?.id, counted: await counted() };
    };
    expect(await counted()).toEqual(['5', '5']);
    const [first, second] = [`${call}.0`, `${call}.1`];
    expect(await settle('not_executed', { payouts: [first] })).toMatchObject({
      status: 200,
      counted: ['2', '2'],
    });
    expect(await settle('not_executed', { payouts: [first] })).toMatchObject({
      status: 409,
      counted: ['2', '2'],
    });
    const confirmed = await settle('confirmed', { payouts: [second] });
    expect(confirmed.counted).toEqual(['2', '2']);
    const corrected = await settle('confirmed', { payouts: [first], supersedes: confirmed.id });
    expect(corrected.counted).toEqual(['5', '5']);
    const again = { supersedes: corrected.id };
    expect(await settle('failed', again)).toMatchObject({ status: 200, counted: ['0', '0'] });
    expect(await settle('failed', again)).toMatchObject({ status: 409, counted: ['0', '0'] });
  });
});

describe('the caps of a payment', () => {
  it('are looked up by index among thousands of people', async () => {
    const database = await createTestDatabase();
    await database.query("INSERT INTO client (id, name, scopes) VALUES (gen_random_uuid(), 'app', '{pay}')");
    await database.query(
      `INSERT INTO person (id, client_id, sha256, name, salt)
       SELECT gen_random_uuid(), c.id, sha256(n::text::bytea), n, 'salt' FROM client c
         CROSS JOIN generate_series(1, 5000) AS n`,
    );
    const rowsRead = async () => {
      const [read] = await database.query<{ rows: number }>(
        `SELECT (seq_tup_read + idx_tup_fetch)::int AS rows
         FROM pg_stat_xact_user_tables WHERE relname = 'person'`,
      );
      return read?.rows ?? 0;
    };
    await database.query('BEGIN');
    const before = await rowsRead(); // the insertion may still count
    const [checked] = await database.query(
      "SELECT payers_within_caps(ARRAY(SELECT id FROM person LIMIT 1), '{1}', current_date) AS ok",
    );
    const read = (await rowsRead()) - before;
    await database.query('ROLLBACK');
    expect(checked).toEqual({ ok: true });
    expect(read).toBeLessThan(10);
    await database.close();
  });
});
