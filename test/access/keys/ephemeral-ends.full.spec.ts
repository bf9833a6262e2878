import { WRONG_KEYS_ALLOWED } from '../../../src/access/auth/key-guessing';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { newEphemeralKey } from '../../../src/access/clients/key';
import { beginEpoch } from '../../../src/journal/stops/recovery-gap';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { EphemeralScene } from '../../support/access/ephemeral-scene';
import { mint } from '../../support/access/minting';
import supertest from '../../support/http/supertest';
import { eventually } from '../../support/payments/paying';
import { TestProxy } from '../../support/processes/proxy';

/** Below the wait of an admission for the database. */
const BEFORE_ITS_END_MS = 800;

describe('an ended ephemeral key', () => {
  let scene: EphemeralScene;
  let proxy: TestProxy;

  beforeAll(async () => {
    scene = await EphemeralScene.start();
    ({ proxy } = scene);
  });
  afterAll(() => scene.close());

  const isWaiting = async () => {
    const waiting = `SELECT FROM pg_locks w WHERE NOT granted
      AND EXISTS (SELECT FROM pg_locks h JOIN pg_database d ON d.oid = h.database
      WHERE h.pid = w.pid AND d.datname = current_database())`;
    return (await scene.database.query(waiting)).length > 0;
  };

  const expire = (id: string) =>
    scene.database.query(
      `UPDATE ephemeral_key SET created_at = created_at - interval '1 hour',
        expires_at = created_at - interval '59 minutes' WHERE id = $1`,
      [id],
    );

  it('is refused by every instance from the first request after its revocation', async () => {
    const { key: secret, id, name } = await scene.app();
    const revocations: [string, () => PromiseLike<unknown>][] = [
      [
        'the key',
        async () =>
          supertest(scene.twin.url)
            .delete(`/v1/ephemeral-keys/${made.id}`)
            .set('X-API-Key', secret)
            .expect(200),
      ],
      [
        'all of the person',
        async () =>
          supertest(scene.twin.url)
            .delete('/v1/ephemeral-keys?actor=ada')
            .set('X-API-Key', secret)
            .expect(200),
      ],
      [
        'the person',
        () =>
          scene.database.query(
            `WITH p AS (UPDATE person SET revoked_at = now() WHERE client_id = $1)
             UPDATE client SET name = name WHERE id = $1`,
            [id],
          ),
      ],
      [
        'all keys, after a recovery',
        () => beginEpoch(proxy.app.get(PrismaService), { reason: 'a drill', actor: null, seen: 0 }),
      ],
      [
        'its parent key',
        async () => {
          const service = scene.twin.app.get(ClientsService, { strict: false });
          const [first] = await service.listKeys(name);
          await service.revokeKey(first?.id ?? '');
        },
      ],
    ];
    let made = { id: '', key: '' };
    for (const [, revoke] of revocations) {
      made = await mint(proxy, secret);
      await scene.pay(made.key).expect(200);
      await scene.pay(made.key).expect(200);
      await revoke();
      await scene.expectNothingSent(() => scene.pay(made.key), 'ephemeral_key_ended');
      expect((await proxy.get(made.key, '/v1/calls').expect(401)).body.code).toBe('ephemeral_key_ended');
    }
  });

  it('is refused after its expiry by the database clock', async () => {
    const { key: secret } = await scene.app();
    const { key, id } = await mint(proxy, secret);
    await scene.pay(key).expect(200);
    await expire(id);
    await scene.expectNothingSent(() => scene.pay(key, { by: scene.twin }), 'ephemeral_key_ended');
    expect((await proxy.get(key, '/v1/limits').expect(401)).body.code).toBe('ephemeral_key_ended');
  });

  it('leaves the cache when it expires', async () => {
    const { key: secret } = await scene.app();
    const { key, expires_at } = await mint(proxy, secret, { expires_in: 2 });
    await scene.pay(key).expect(200);
    await scene.pay(key).expect(200);
    await sleepUntil(expires_at);
    await scene.expectNothingSent(() => scene.pay(key), 'ephemeral_key_ended');
  });

  it('sends nothing if its parent key is revoked on another instance while the payment waits', async () => {
    const { key: secret, id, name } = await scene.app();
    const { key } = await mint(proxy, secret);
    await scene.pay(key).expect(200);
    await scene.expectNothingSent(async () => {
      await scene.database.query(`BEGIN; SELECT FROM client WHERE id = '${id}' FOR NO KEY UPDATE`);
      const paying = start(scene.pay(key));
      await eventually(isWaiting);
      const service = scene.twin.app.get(ClientsService, { strict: false });
      for (const { id: parent } of await service.listKeys(name)) await service.revokeKey(parent);
      await scene.database.query('ROLLBACK');
      return paying;
    }, 'ephemeral_key_ended');
  });

  it('sends nothing if it expires between admission and sending', async () => {
    const { key: secret } = await scene.app();
    const { key, expires_at } = await mint(proxy, secret, { expires_in: 3 });
    await scene.expectNothingSent(async () => {
      await sleepUntil(expires_at, BEFORE_ITS_END_MS);
      await scene.database.query('BEGIN; LOCK TABLE intent IN EXCLUSIVE MODE');
      const paying = start(scene.pay(key));
      await eventually(isWaiting);
      await sleepUntil(expires_at);
      await scene.database.query('ROLLBACK');
      return paying;
    }, 'too_late');
  });

  it('lets its held calls be approved after its expiry, but not after its revocation', async () => {
    const { key: secret, id } = await scene.app();
    await scene.change(id, 'approval_over_usd = 0');
    await proxy.client('approvers', 'approve');
    const clients = proxy.app.get(ClientsService, { strict: false });
    const { key: approver } = await clients.issueKey('approvers', { person: 'grace' });
    const hold = async () => {
      const made = await mint(proxy, secret);
      const held = await scene.pay(made.key).expect(202);
      return { keyId: made.id, path: `/v1/approvals/${held.headers['x-call-id'] ?? ''}` as const };
    };
    const approve = (path: `/v1/approvals/${string}`) =>
      supertest(proxy.url).post(`${path}/approve`).set('X-API-Key', approver).send({ reason: 'agreed' });

    const [expired, revoked] = [await hold(), await hold()];
    await expire(expired.keyId);
    await approve(expired.path).expect(200);
    const spent = 'SELECT usd::text FROM payer_spending WHERE payer_id = $1';
    expect(await scene.database.query(spent, [expired.keyId])).toEqual([{ usd: '1.000000' }]);

    await supertest(proxy.url)
      .delete(`/v1/ephemeral-keys/${revoked.keyId}`)
      .set('X-API-Key', secret)
      .expect(200);
    const { body } = await proxy.get(approver, revoked.path).expect(200);
    expect(body).toMatchObject({ not_allowed: { code: 'key_revoked' } });
    await scene.expectNothingSent(() => approve(revoked.path), 'key_revoked');
  });

  it('blocks the approval of a held call over its total, even months later', async () => {
    const { key: secret, id } = await scene.app();
    await scene.change(id, 'approval_over_usd = 2');
    await proxy.client('late-approvers', 'approve');
    const clients = proxy.app.get(ClientsService, { strict: false });
    const { key: approver } = await clients.issueKey('late-approvers', { person: 'grace' });
    const made = await mint(proxy, secret, { max_total: '5' });
    const held = await scene.pay(made.key, { usd: 4 }).expect(202);
    await scene.pay(made.key, { usd: 2 }).expect(200);
    const monthsAgo = `UPDATE payer_spending SET day = day - 200 WHERE payer_id = $1`;
    await scene.database.query(monthsAgo, [made.id]);
    const path = `/v1/approvals/${held.headers['x-call-id'] ?? ''}` as const;
    const { body } = await proxy.get(approver, path).expect(200);
    expect(body).toMatchObject({ caps: { fits: false, ephemeral_key: { spent_usd: '2' } } });
    const approve = () =>
      supertest(proxy.url).post(`${path}/approve`).set('X-API-Key', approver).send({ reason: 'agreed' });
    await scene.expectNothingSent(approve, 'cap_exceeded');
  });

  it('ends a wait for news of a call with ephemeral_key_ended', async () => {
    const { key: secret, id } = await scene.app();
    await scene.change(id, 'approval_over_usd = 0');
    const made = await mint(proxy, secret);
    const held = await scene.pay(made.key).expect(202);
    const waiting = start(proxy.get(made.key, `/v1/calls/${held.headers['x-call-id']}?wait=30`));
    await supertest(scene.twin.url)
      .delete(`/v1/ephemeral-keys/${made.id}`)
      .set('X-API-Key', secret)
      .expect(200);
    expect((await waiting).body).toMatchObject({ code: 'ephemeral_key_ended' });
  });

  it('is answered with ephemeral_key_ended every time, while guesses end in 429', async () => {
    const { key: secret } = await scene.app();
    const { key, id } = await mint(proxy, secret);
    await supertest(proxy.url).delete(`/v1/ephemeral-keys/${id}`).set('X-API-Key', secret).expect(200);
    const readWith = (sent: string) =>
      supertest(proxy.url).get('/v1/limits').set({ 'X-API-Key': sent, 'X-Forwarded-For': '198.51.100.20' });
    for (let count = 0; count < WRONG_KEYS_ALLOWED + 5; count += 1) await readWith(key).expect(401);
    for (let count = 0; count < WRONG_KEYS_ALLOWED; count += 1) {
      // The app requests another key, for a lost key as for a guess.
      expect((await readWith(newEphemeralKey('shop')).expect(401)).body.code).toBe('ephemeral_key_ended');
    }
    await readWith(newEphemeralKey('shop')).expect(429);
    expect((await readWith(key).expect(401)).body).toMatchObject({
      code: 'ephemeral_key_ended',
      action: 'fix_request',
    });
  });
});

/** Sends a request at once. supertest waits for `then`. */
function start<Answer>(request: PromiseLike<Answer>): Promise<Answer> {
  return Promise.resolve(request.then((answer) => answer));
}

async function sleepUntil(instant: string, beforeMs = 0): Promise<void> {
  while (Date.now() <= Date.parse(instant) - beforeMs)
    await new Promise((resolve) => setTimeout(resolve, 50));
}
