import { removeExpired } from '../support/databases/expiry';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { answer, FakeUpstream, hang, succeed } from '../support/network/fake-upstream';
import { answeredEarlier, receivedEarlier } from '../support/payments/earlier';
import { AIRTIME, airtime } from '../support/payments/paying';
import { settleByHand } from '../support/payments/settling';
import { startProxy, TestProxy } from '../support/processes/proxy';

const PATH = '/payouts/airtime';

describe('the duplicate guard', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let twin: TestProxy;
  let clients = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    const settings = {
      upstreamBaseUrl: upstream.url,
      upstreamTimeoutMs: 300,
      duplicateGuard: true,
      duplicateWindowSeconds: 3_600,
    };
    proxy = await startProxy(settings, database);
    twin = await startProxy(settings, database);
  });
  afterAll(async () => {
    await upstream.stop();
    await proxy.close();
    await twin.close();
    await database.close();
  });
  beforeEach(() => {
    upstream.received.length = 0;
    upstream.behaviour = succeed;
  });

  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const client = async () =>
    (await proxy.client(`app-${(clients += 1)}`, 'pay', 'write', 'read', 'account')).key;

  it("rejects the same content without a key with 409 and the first call's ID", async () => {
    const key = await client();
    const first = await proxy.post(key, PATH, AIRTIME).expect(200);
    for (const instance of [proxy, twin]) {
      const { body } = await instance.post(key, PATH, AIRTIME).expect(409);
      expect(body).toMatchObject({ code: 'suspected_duplicate', first_call_id: first.headers['x-call-id'] });
    }
    expect(upstream.received).toHaveLength(1);
    const [row] = await database.query(
      'SELECT DISTINCT code, first_call_id FROM refusal WHERE client_id = (SELECT client_id FROM intent ' +
        'WHERE id = $1)',
      [first.headers['x-call-id']],
    );
    expect(row).toEqual({ code: 'suspected_duplicate', first_call_id: first.headers['x-call-id'] });
  });

  it('sends one of fifty simultaneous requests over two proxies', async () => {
    const key = await client();
    const answers = await Promise.all(
      Array.from(
        { length: 50 },
        async (_, n) => (await (n % 2 ? proxy : twin).post(key, PATH, AIRTIME)).status,
      ),
    );
    expect(answers.sort()).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    ['with a key', (key: string) => proxy.post(key, PATH, AIRTIME).set('Idempotency-Key', 'meant-again')],
    ['with another content', (key: string) => proxy.post(key, PATH, airtime('+254712345679'))],
    [
      'by another operation',
      (key: string) => proxy.post(key, '/account/transfer', { receiver: 'x', amount: 1 }),
    ],
  ])('admits a request %s after an executed payment', async (_how, again) => {
    const key = await client();
    await proxy.post(key, PATH, AIRTIME).expect(200);
    await again(key).expect(200);
  });

  it('admits the same payment of another client', async () => {
    await proxy.post(await client(), PATH, AIRTIME).expect(200);
    await proxy.post(await client(), PATH, AIRTIME).expect(200);
  });

  it('admits a repetition after a call that provably paid nothing', async () => {
    const key = await client();
    upstream.behaviour = answer(400, { status: 'error', error: 'no' });
    const rejected = await proxy.post(key, PATH, AIRTIME).expect(400);
    upstream.behaviour = succeed;
    await proxy.post(key, PATH, AIRTIME).expect(409, /suspected_duplicate/);
    await settleByHand(proxy, rejected);
    await proxy.post(key, PATH, AIRTIME).expect(200);
  });

  it('rejects a repetition of a call in doubt', async () => {
    const key = await client();
    upstream.behaviour = hang;
    const { headers } = await proxy.post(key, PATH, AIRTIME).expect(504);
    upstream.behaviour = succeed;
    await answeredEarlier(database, headers['x-call-id'] ?? '', 2);
    await proxy.post(key, PATH, AIRTIME).expect(409, /suspected_duplicate/);
    expect(upstream.received).toHaveLength(1);
  });

  // Runs before any test that starts and stops proxies: receivedEarlier waits for the heartbeats of all.
  it('stores only hashes of contents, and deletes them after the window', async () => {
    const key = await client();
    const id = idOf(await proxy.post(key, PATH, AIRTIME).expect(200));
    const rows = await database.query(
      'SELECT length(content) AS bytes FROM recent_content WHERE intent_id = $1',
      [id],
    );
    expect(rows).toEqual([{ bytes: 32 }]);
    const kept = (call: string) => database.query('SELECT FROM recent_content WHERE intent_id = $1', [call]);
    await removeExpired(proxy);
    expect(await kept(id)).toHaveLength(1);
    // The request arrived long ago, like one held for approval. The window counts from the answer.
    const old = await receivedEarlier(database, id, 48);
    await removeExpired(proxy);
    expect(await kept(old)).toHaveLength(1);
    await answeredEarlier(database, old, 2);
    expect((await removeExpired(proxy)).recent_content).toBeGreaterThan(0);
    expect(await kept(old)).toEqual([]);
  });

  it('rejects a repetition in any window while the first call is in flight or in doubt', async () => {
    const brief = await startProxy(
      { upstreamBaseUrl: upstream.url, duplicateGuard: true, duplicateWindowSeconds: 1 },
      database,
    );
    const key = await client();
    const arrived = new Promise<() => void>((resolve) => {
      upstream.behaviour = (...args) => resolve(() => succeed(...args));
    });
    const first = brief.post(key, PATH, AIRTIME).then(({ headers }) => headers['x-call-id'] ?? '');
    const release = await arrived;
    await brief.post(key, PATH, AIRTIME).expect(409, /suspected_duplicate/);
    release();
    const id = await first;
    // The window counts from its answer.
    await brief.post(key, PATH, AIRTIME).expect(409, /suspected_duplicate/);
    upstream.behaviour = succeed;
    await answeredEarlier(database, id, 2 / 3_600);
    await brief.post(key, PATH, AIRTIME).expect(200);
    await brief.close();
  });

  it('ignores reads', async () => {
    const key = await client();
    await proxy.get(key, '/api/v0.1/wallets/list').expect(200);
    await proxy.get(key, '/api/v0.1/wallets/list').expect(200);
  });

  it('admits a repetition after the window, or with a window of 0', async () => {
    const key = await client();
    const { headers } = await proxy.post(key, PATH, AIRTIME).expect(200);
    await answeredEarlier(database, headers['x-call-id'] ?? '', 2);
    await proxy.post(key, PATH, AIRTIME).expect(200);
    const none = { duplicateGuard: true, duplicateWindowSeconds: 0 };
    const off = await startProxy({ upstreamBaseUrl: upstream.url, ...none }, database);
    await off.post(key, PATH, AIRTIME).expect(200);
    await off.post(key, PATH, AIRTIME).expect(200);
    await off.close();
  });

  describe('across clients', () => {
    let guarded: TestProxy;
    let other: TestProxy;
    beforeAll(async () => {
      const settings = { upstreamBaseUrl: upstream.url, duplicateAcrossClientsSeconds: 3_600 };
      guarded = await startProxy(settings, database);
      other = await startProxy(settings, database);
    });
    afterAll(async () => {
      await guarded.close();
      await other.close();
    });

    it('holds the same recipient and amount for approval, and sends nothing', async () => {
      const body = airtime('+254711000001');
      await guarded.post(await client(), PATH, body).expect(200);
      const held = await guarded.post(await client(), PATH, body).expect(202);
      expect(held.body).toEqual({ status: 'pending_approval', call_id: held.headers['x-call-id'] });
      expect(upstream.received).toHaveLength(1);
      const rows = await database.query('SELECT held_for, reserved_on FROM intent WHERE id = $1', [
        held.body.call_id,
      ]);
      expect(rows).toEqual([{ held_for: 'seen_across_clients', reserved_on: null }]);
    });

    it('admits the same client, another amount or another recipient', async () => {
      const key = await client();
      await guarded.post(key, PATH, airtime('+254711000002')).expect(200);
      await guarded.post(key, PATH, airtime('+254711000002')).expect(200);
      await guarded.post(await client(), PATH, airtime('+254711000003')).expect(200);
      const more = { airtimes: [{ ...AIRTIME.airtimes[0], phoneNumber: '+254711000002', valueInUSD: 2.6 }] };
      await guarded.post(await client(), PATH, more).expect(200);
    });

    it('sends one of ten simultaneous payments of several clients, and holds nine', async () => {
      const body = airtime('+254711000004');
      const keys = await Promise.all(Array.from({ length: 10 }, client));
      const answers = await Promise.all(
        keys.map(async (key, n) => (await (n % 2 ? guarded : other).post(key, PATH, body)).status),
      );
      expect(answers.sort()).toEqual([200, ...Array.from({ length: 9 }, () => 202)]);
      expect(upstream.received).toHaveLength(1);
    });
  });
});
