import { RecentContents } from '../src/journal/recent-contents';
import { answer, FakeUpstream, hang } from './support/fake-upstream';
import { AIRTIME, airtime, SUCCESS } from './support/paying';
import { startProxy, TestProxy } from './support/proxy';
import { createTestDatabase, TestDatabase } from './support/test-database';

const PATH = '/payouts/airtime';

describe('suspected duplicates', () => {
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
    upstream.behaviour = answer(200, SUCCESS);
  });

  const client = async () => (await proxy.client(`app-${(clients += 1)}`, 'pay', 'write', 'read')).key;

  /** Lets a content look as if its call had been received so many hours earlier. */
  async function receivedEarlier(callId: string, hours: number): Promise<string> {
    const then = (Date.now() - hours * 3_600_000).toString(16).padStart(12, '0');
    const old = `${then.slice(0, 8)}-${then.slice(8)}${callId.slice(13)}`;
    for (const [table, column] of [
      ['intent', 'id'],
      ['outcome', 'intent_id'],
      ['recent_content', 'intent_id'],
    ] as const) {
      const isRecord = table !== 'recent_content';
      if (isRecord) await database.query(`ALTER TABLE ${table} DISABLE TRIGGER refuse_change`);
      await database.query(`UPDATE ${table} SET ${column} = $1 WHERE ${column} = $2`, [old, callId]);
      if (isRecord) await database.query(`ALTER TABLE ${table} ENABLE TRIGGER refuse_change`);
    }
    return old;
  }

  /** Lets an outcome look as if it had been recorded so much earlier. */
  async function answeredEarlier(callId: string, interval: string): Promise<void> {
    await database.query('ALTER TABLE outcome DISABLE TRIGGER refuse_change');
    await database.query('UPDATE outcome SET recorded_at = recorded_at - $2::interval WHERE intent_id = $1', [
      callId,
      interval,
    ]);
    await database.query('ALTER TABLE outcome ENABLE TRIGGER refuse_change');
  }

  it('the same again without a key gets 409 and the id of the first call, on every instance', async () => {
    const key = await client();
    const first = await proxy.post(key, PATH, AIRTIME).expect(200);
    for (const instance of [proxy, twin]) {
      const { body } = await instance.post(key, PATH, AIRTIME).expect(409);
      expect(body).toMatchObject({ code: 'suspected_duplicate', first_call_id: first.headers['x-call-id'] });
    }
    expect(upstream.received).toHaveLength(1);
    const [row] = await database.query(
      'SELECT DISTINCT code, first_call_id FROM refusal WHERE client_id = (SELECT client_id FROM intent WHERE id = $1)',
      [first.headers['x-call-id']],
    );
    expect(row).toEqual({ code: 'suspected_duplicate', first_call_id: first.headers['x-call-id'] });
  });

  it('fifty at once over two proxies: one is sent', async () => {
    const key = await client();
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => (await (n % 2 ? proxy : twin).post(key, PATH, AIRTIME)).status),
    );
    expect(answers.sort()).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    ['with a key', (key: string) => proxy.post(key, PATH, AIRTIME).set('Idempotency-Key', 'meant-again')],
    ['with another content', (key: string) => proxy.post(key, PATH, airtime('+254712345679'))],
    ['by another operation', (key: string) => proxy.post(key, '/account/transfer', { receiver: 'x', amount: 1 })],
  ])('what comes %s after a single payment was carried out is none', async (_how, again) => {
    const key = await client();
    await proxy.post(key, PATH, AIRTIME).expect(200);
    await again(key).expect(200);
  });

  it('another client may pay the same', async () => {
    await proxy.post(await client(), PATH, AIRTIME).expect(200);
    await proxy.post(await client(), PATH, AIRTIME).expect(200);
  });

  it('a call that is known not to have paid is no first one', async () => {
    const key = await client();
    upstream.behaviour = answer(400, { status: 'error', error: 'no' });
    await proxy.post(key, PATH, AIRTIME).expect(400);
    upstream.behaviour = answer(200, SUCCESS);
    await proxy.post(key, PATH, AIRTIME).expect(200);
  });

  /** Asks with a key of its own, or none, and names a call to repeat. */
  const ask = (key: string, body: object, { idempotencyKey, names }: { idempotencyKey?: string; names?: string }) => {
    const request = proxy.post(key, PATH, body);
    if (idempotencyKey !== undefined) void request.set('Idempotency-Key', idempotencyKey);
    if (names !== undefined) void request.set('Allow-Duplicate-Of', names);
    return request;
  };
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const recorded = async (id: string) =>
    (await database.query('SELECT duplicate_of::text, held_for FROM intent WHERE id = $1', [id]))[0];
  const LIST = { airtimes: [...AIRTIME.airtimes, ...airtime('+254712345670').airtimes] };

  async function inDoubt(key: string, body: object = AIRTIME): Promise<string> {
    upstream.behaviour = hang;
    const id = idOf(await ask(key, body, { idempotencyKey: 'first' }).expect(504));
    upstream.behaviour = answer(200, SUCCESS);
    return id;
  }

  describe('of a call in doubt', () => {
    it('gets 409 with its id and its state, with any key or none, for as long as the doubt lasts', async () => {
      const key = await client();
      const first = await receivedEarlier(await inDoubt(key), 200);
      await proxy.app.get(RecentContents, { strict: false }).runOnce();
      for (const idempotencyKey of [undefined, 'another']) {
        const { body } = await ask(key, AIRTIME, { ...(idempotencyKey && { idempotencyKey }) }).expect(409);
        expect(body).toMatchObject({
          ...{ code: 'suspected_duplicate', first_call_id: first, first_call_state: 'unknown' },
          error: expect.stringContaining(`Allow-Duplicate-Of: ${first}`),
        });
        expect(body.error).toContain(`GET /v1/calls/${first}`);
        expect(body.error).not.toMatch(/new (Idempotency-)?key/i);
      }
      expect(upstream.received).toHaveLength(1);
    });

    it('is sent if it names that call, which is recorded', async () => {
      const key = await client();
      const first = await inDoubt(key);
      const second = await ask(key, AIRTIME, { idempotencyKey: 'meant', names: first.toUpperCase() }).expect(200);
      expect(await recorded(idOf(second))).toEqual({ duplicate_of: first, held_for: null });
      const { key: auditor } = await proxy.client(`auditor-${(clients += 1)}`, 'audit');
      for (const [who, path] of [
        [auditor, '/v1/audit/calls'],
        [key, '/v1/calls'],
      ] as const) {
        const { body } = await proxy.get(who, `${path}/${idOf(second)}`).expect(200);
        expect(body.duplicate_of).toBe(first);
      }
      expect(upstream.received).toHaveLength(2);
    });

    it('must name the newest call: of two that name the first, one is sent', async () => {
      const key = await client();
      const first = await inDoubt(key);
      const answers = await Promise.all(
        [proxy, twin].map((instance, n) =>
          instance.post(key, PATH, AIRTIME).set('Idempotency-Key', `again-${n}`).set('Allow-Duplicate-Of', first),
        ),
      );
      const [sent, refused] = answers.sort((one, other) => one.status - other.status);
      expect([sent?.status, refused?.status]).toEqual([200, 409]);
      const second = idOf(sent as { headers: Record<string, string> });
      expect(refused?.body).toMatchObject({ code: 'suspected_duplicate', first_call_id: second });
      // The same once the second call is carried out, and later.
      const late = await ask(key, AIRTIME, { idempotencyKey: 'late', names: first }).expect(409);
      expect(late.body).toMatchObject({ first_call_id: second, first_call_state: 'succeeded' });
      await ask(key, AIRTIME, { idempotencyKey: 'third', names: second }).expect(200);
      expect(upstream.received).toHaveLength(3);
    });

    it.each([
      ['not-an-id', 400, 'invalid_allow_duplicate_of'],
      ['019aaaaa-0000-7000-8000-000000000000', 409, 'suspected_duplicate'],
    ])('is not sent if it names %s', async (names, status, code) => {
      const key = await client();
      const first = await inDoubt(key);
      const { body } = await ask(key, AIRTIME, { idempotencyKey: 'other', names }).expect(status);
      expect(body.code).toBe(code);
      if (status === 409) expect(body.first_call_id).toBe(first);
      expect(upstream.received).toHaveLength(1);
    });

    it('gets what its own key says, whatever it names', async () => {
      const key = await client();
      const first = await inDoubt(key);
      const { body } = await ask(key, AIRTIME, { idempotencyKey: 'first', names: first }).expect(409);
      expect(body).toMatchObject({ code: 'outcome_unknown', first_call_id: first });
      expect(upstream.received).toHaveLength(1);
    });

    it('is sent without being named once it is settled that it was not carried out', async () => {
      const key = await client();
      const first = await inDoubt(key);
      await database.query("INSERT INTO resolution (intent_id, verdict, reason) VALUES ($1, 'absent', 'no')", [first]);
      const second = await ask(key, AIRTIME, { idempotencyKey: 'next', names: first }).expect(200);
      expect(await recorded(idOf(second))).toEqual({ duplicate_of: null, held_for: null }); // it repeats none
    });

    it('does not pass a cap, a stop or an approval by naming it', async () => {
      const key = await client();
      const first = await inDoubt(key);
      const limit = (column: string, usd: number | null) =>
        database.query(`UPDATE client SET ${column} = $1 WHERE name = $2`, [usd, `app-${clients}`]);
      const naming = (idempotencyKey: string) => ask(key, AIRTIME, { idempotencyKey, names: first });
      await limit('daily_cap_usd', 2.5);
      expect((await naming('capped').expect(403)).body.code).toBe('cap_exceeded');
      await limit('daily_cap_usd', null);
      await limit('approval_over_usd', 1);
      const held = await naming('held').expect(202);
      expect(await recorded(held.body.call_id)).toEqual({ duplicate_of: first, held_for: 'over_threshold' });
      const { body } = await naming('again').expect(409);
      expect(body).toMatchObject({ first_call_id: held.body.call_id, first_call_state: 'pending_approval' });
    });
  });

  it('gets 409 while a call is in progress, with another key too, and on another instance', async () => {
    const key = await client();
    const arrived = new Promise<() => void>((resolve) => {
      upstream.behaviour = (...args) => resolve(() => answer(200, SUCCESS)(...args));
    });
    const first = ask(key, AIRTIME, { idempotencyKey: 'one' }).then(idOf);
    const release = await arrived;
    const second = await twin.post(key, PATH, AIRTIME).set('Idempotency-Key', 'two').expect(409);
    release();
    expect(second.body).toMatchObject({ first_call_id: await first, first_call_state: 'in_progress' });
  });

  describe('of a list of two items or more', () => {
    it('is refused for a day after its success, with any key or none, and sent if it names the call', async () => {
      const key = await client();
      const first = idOf(await ask(key, LIST, { idempotencyKey: 'upload-1' }).expect(200));
      await answeredEarlier(first, '23 hours');
      const contents = proxy.app.get(RecentContents, { strict: false });
      const old = await receivedEarlier(first, 25);
      await contents.runOnce();
      for (const idempotencyKey of [undefined, 'upload-2']) {
        const { body } = await ask(key, LIST, { ...(idempotencyKey && { idempotencyKey }) }).expect(409);
        expect(body).toMatchObject({ code: 'suspected_duplicate', first_call_id: old, first_call_state: 'succeeded' });
      }
      await ask(key, LIST, { idempotencyKey: 'upload-2', names: old }).expect(200);
      expect(upstream.received).toHaveLength(2);
    });

    it('is sent again after a day, after a rejection, and with another item', async () => {
      const key = await client();
      upstream.behaviour = answer(400, { status: 'error', error: 'no' });
      await ask(key, LIST, { idempotencyKey: 'upload-1' }).expect(400);
      upstream.behaviour = answer(200, SUCCESS);
      const first = idOf(await ask(key, LIST, { idempotencyKey: 'upload-2' }).expect(200));
      await answeredEarlier(first, '25 hours');
      await ask(key, LIST, { idempotencyKey: 'upload-3' }).expect(200);
      await ask(key, { airtimes: [...LIST.airtimes].reverse() }, { idempotencyKey: 'upload-4' }).expect(200);
    });
  });

  it('a call in doubt is one', async () => {
    const key = await client();
    upstream.behaviour = hang;
    const { headers } = await proxy.post(key, PATH, AIRTIME).expect(504);
    upstream.behaviour = answer(200, SUCCESS);
    await answeredEarlier(headers['x-call-id'] ?? '', '2 hours');
    await proxy.post(key, PATH, AIRTIME).expect(409, /suspected_duplicate/);
    expect(upstream.received).toHaveLength(1);
  });

  it('a call in flight, or in doubt, is one for as long as it is, however short the window', async () => {
    const brief = await startProxy(
      { upstreamBaseUrl: upstream.url, duplicateGuard: true, duplicateWindowSeconds: 1 },
      database,
    );
    const key = await client();
    const arrived = new Promise<() => void>((resolve) => {
      upstream.behaviour = (...args) => resolve(() => answer(200, SUCCESS)(...args));
    });
    const first = brief.post(key, PATH, AIRTIME).then(({ headers }) => headers['x-call-id'] ?? '');
    const release = await arrived;
    await brief.post(key, PATH, AIRTIME).expect(409, /suspected_duplicate/);
    release();
    const id = await first;
    // Its answer is what the window is counted from.
    await brief.post(key, PATH, AIRTIME).expect(409, /suspected_duplicate/);
    upstream.behaviour = answer(200, SUCCESS);
    await answeredEarlier(id, '2 seconds');
    await brief.post(key, PATH, AIRTIME).expect(200);
    await brief.close();
  });

  it('reads are never suspected', async () => {
    const key = await client();
    await proxy.get(key, '/api/v0.1/wallets/list').expect(200);
    await proxy.get(key, '/api/v0.1/wallets/list').expect(200);
  });

  it('an older call is none, nor is any with a window of 0 once it was carried out', async () => {
    const key = await client();
    const { headers } = await proxy.post(key, PATH, AIRTIME).expect(200);
    await answeredEarlier(headers['x-call-id'] ?? '', '2 hours');
    await proxy.post(key, PATH, AIRTIME).expect(200);
    const none = { duplicateGuard: true, duplicateWindowSeconds: 0 };
    const off = await startProxy({ upstreamBaseUrl: upstream.url, ...none }, database);
    await off.post(key, PATH, AIRTIME).expect(200);
    await off.post(key, PATH, AIRTIME).expect(200);
    await off.close();
  });

  it('of the contents, only hashes are kept, and no longer than they are needed', async () => {
    const key = await client();
    const id = idOf(await proxy.post(key, PATH, AIRTIME).expect(200));
    const rows = await database.query('SELECT length(content) AS bytes FROM recent_content WHERE intent_id = $1', [id]);
    expect(rows).toEqual([{ bytes: 32 }]);
    const kept = (call: string) => database.query('SELECT FROM recent_content WHERE intent_id = $1', [call]);
    const contents = proxy.app.get(RecentContents, { strict: false });
    await contents.runOnce();
    expect(await kept(id)).toHaveLength(1);
    // It was received long ago, as what waits for an approval is; what counts is when it was answered.
    const old = await receivedEarlier(id, 48);
    await contents.runOnce();
    expect(await kept(old)).toHaveLength(1);
    await answeredEarlier(old, '2 hours');
    expect(await contents.runOnce()).toBeGreaterThan(0);
    expect(await kept(old)).toEqual([]);
  });

  describe('across clients, where that is switched on', () => {
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

    it('the same recipient and amount is held for approval, and not sent', async () => {
      const body = airtime('+254711000001');
      await guarded.post(await client(), PATH, body).expect(200);
      const held = await guarded.post(await client(), PATH, body).expect(202);
      expect(held.body).toEqual({ status: 'pending_approval', call_id: held.headers['x-call-id'] });
      expect(upstream.received).toHaveLength(1);
      const rows = await database.query('SELECT held_for, reserved_on FROM intent WHERE id = $1', [held.body.call_id]);
      expect(rows).toEqual([{ held_for: 'seen_across_clients', reserved_on: null }]);
    });

    it('the same client, another amount or another recipient is not', async () => {
      const key = await client();
      await guarded.post(key, PATH, airtime('+254711000002')).expect(200);
      await guarded.post(key, PATH, airtime('+254711000002')).expect(200);
      await guarded.post(await client(), PATH, airtime('+254711000003')).expect(200);
      const more = { airtimes: [{ ...AIRTIME.airtimes[0], phoneNumber: '+254711000002', valueInUSD: 2.6 }] };
      await guarded.post(await client(), PATH, more).expect(200);
    });

    it('ten clients at once over two proxies: one is sent, nine are held', async () => {
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
