import { removeExpired } from '../support/databases/expiry';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { answer, FakeUpstream, hang, succeed } from '../support/network/fake-upstream';
import { answeredEarlier, receivedEarlier } from '../support/payments/earlier';
import { AIRTIME, airtime } from '../support/payments/paying';
import { respelt } from '../support/payments/respelt';
import { settleByHand } from '../support/payments/settling';
import { startProxy, TestProxy } from '../support/processes/proxy';
import { insertSettlements } from '../support/records/documents';

const PATH = '/payouts/airtime';
const LIST = { airtimes: [...AIRTIME.airtimes, ...airtime('+254712345670').airtimes] };

/** Promise 2, part: a new key never repeats a possible payment. */
describe('repeated content', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let twin: TestProxy;
  let clients = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    const settings = { upstreamBaseUrl: upstream.url, upstreamTimeoutMs: 300, duplicateGuard: true };
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

  const client = async () => (await proxy.client(`app-${(clients += 1)}`, 'pay', 'write', 'read')).key;

  /** Sends a request with an optional key and an optional call to repeat. */
  const ask = (
    key: string,
    body: object,
    { idempotencyKey, names }: { idempotencyKey?: string; names?: string },
  ) => {
    const request = proxy.post(key, PATH, body);
    if (idempotencyKey !== undefined) void request.set('Idempotency-Key', idempotencyKey);
    if (names !== undefined) void request.set('Allow-Duplicate-Of', names);
    return request;
  };
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const recorded = async (id: string) =>
    (
      await database.query(
        "SELECT record::json ->> 'duplicate_of' AS duplicate_of, held_for FROM intent WHERE id = $1",
        [id],
      )
    )[0];

  async function inDoubt(key: string, body: object = AIRTIME): Promise<string> {
    upstream.behaviour = hang;
    const id = idOf(await ask(key, body, { idempotencyKey: 'first' }).expect(504));
    upstream.behaviour = succeed;
    return id;
  }

  describe('of a call in doubt', () => {
    it("gets 409 with the call's ID and state, with any key or none, while the doubt lasts", async () => {
      const key = await client();
      const first = await receivedEarlier(database, await inDoubt(key), 200);
      await removeExpired(proxy);
      for (const idempotencyKey of [undefined, 'another']) {
        const { body } = await ask(key, AIRTIME, { ...(idempotencyKey && { idempotencyKey }) }).expect(409);
        expect(body).toMatchObject({
          code: 'suspected_duplicate',
          first_call_id: first,
          first_call_state: 'unknown',
          error: expect.stringContaining(`Allow-Duplicate-Of: ${first}`),
        });
        expect(body.error).toContain(`GET /v1/calls/${first}`);
        expect(body.error).not.toMatch(/new (Idempotency-)?key/i);
      }
      expect(upstream.received).toHaveLength(1);
    });

    it('is sent if it names the call, and the record shows it', async () => {
      const key = await client();
      const first = await inDoubt(key);
      const second = await ask(key, AIRTIME, { idempotencyKey: 'meant', names: first.toUpperCase() }).expect(
        200,
      );
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

    it('must name the newest call, so only one of two requests that name the first is sent', async () => {
      const key = await client();
      const first = await inDoubt(key);
      const answers = await Promise.all(
        [proxy, twin].map((instance, n) =>
          instance
            .post(key, PATH, AIRTIME)
            .set('Idempotency-Key', `again-${n}`)
            .set('Allow-Duplicate-Of', first),
        ),
      );
      const [sent, refused] = answers.sort((one, other) => one.status - other.status);
      expect([sent?.status, refused?.status]).toEqual([200, 409]);
      const second = idOf(sent as { headers: Record<string, string> });
      expect(refused?.body).toMatchObject({ code: 'suspected_duplicate', first_call_id: second });
      // The same after the second call is executed.
      const late = await ask(key, AIRTIME, { idempotencyKey: 'late', names: first }).expect(409);
      expect(late.body).toMatchObject({ first_call_id: second, first_call_state: 'succeeded' });
      await ask(key, AIRTIME, { idempotencyKey: 'third', names: second }).expect(200);
      expect(upstream.received).toHaveLength(3);
    });

    it.each([
      ['not-an-id', 400, 'invalid_allow_duplicate_of'],
      ['019aaaaa-0000-7000-8000-000000000000', 409, 'suspected_duplicate'],
    ])('is not sent with allow_duplicate_of %s', async (names, status, code) => {
      const key = await client();
      const first = await inDoubt(key);
      const { body } = await ask(key, AIRTIME, { idempotencyKey: 'other', names }).expect(status);
      expect(body.code).toBe(code);
      if (status === 409) expect(body.first_call_id).toBe(first);
      expect(upstream.received).toHaveLength(1);
    });

    it('gets the answer of its own key, whatever call it names', async () => {
      const key = await client();
      const first = await inDoubt(key);
      const { body } = await ask(key, AIRTIME, { idempotencyKey: 'first', names: first }).expect(409);
      expect(body).toMatchObject({ code: 'outcome_unknown', first_call_id: first });
      expect(upstream.received).toHaveLength(1);
    });

    it('is sent without a name once the call is settled as not executed', async () => {
      const key = await client();
      const first = await inDoubt(key);
      await insertSettlements(database, [{ intent_id: first }]);
      const second = await ask(key, AIRTIME, { idempotencyKey: 'next', names: first }).expect(200);
      // it repeats no call
      expect(await recorded(idOf(second))).toEqual({ duplicate_of: null, held_for: null });
    });

    it('is refused for a day after the call is settled as paid, as its client saw an error', async () => {
      const key = await client();
      const old = await receivedEarlier(database, await inDoubt(key), 200);
      const recorded_at = new Date(Date.now() - 23 * 3_600_000).toISOString();
      await insertSettlements(database, [{ intent_id: old, resolution: 'confirmed', recorded_at }]);
      await removeExpired(proxy);
      for (const idempotencyKey of [undefined, 'another']) {
        const { body } = await ask(key, AIRTIME, { ...(idempotencyKey && { idempotencyKey }) }).expect(409);
        expect(body).toMatchObject({
          code: 'suspected_duplicate',
          first_call_id: old,
          first_call_state: 'confirmed',
        });
      }
      await ask(key, AIRTIME, { idempotencyKey: 'another', names: old }).expect(200);
      expect(upstream.received).toHaveLength(2);
    });

    it('does not bypass a cap, a stop or an approval by naming the call', async () => {
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

  it('gets 409 in any spelling', async () => {
    const key = await client();
    const first = idOf(await ask(key, AIRTIME, {}).expect(200));
    const { body } = await ask(key, respelt('POST /payouts/airtime', AIRTIME), {}).expect(409);
    expect(body).toMatchObject({ code: 'suspected_duplicate', first_call_id: first });
    expect(upstream.received).toHaveLength(1);
  });

  it('gets 409 while a call is in progress, also with another key and on another instance', async () => {
    const key = await client();
    const arrived = new Promise<() => void>((resolve) => {
      upstream.behaviour = (...args) => resolve(() => succeed(...args));
    });
    const first = ask(key, AIRTIME, { idempotencyKey: 'one' }).then(idOf);
    const release = await arrived;
    const second = await twin.post(key, PATH, AIRTIME).set('Idempotency-Key', 'two').expect(409);
    release();
    expect(second.body).toMatchObject({ first_call_id: await first, first_call_state: 'in_progress' });
  });

  describe('of a list with several items', () => {
    it('is refused for a day after its success, with any key or none, unless it names the call', async () => {
      const key = await client();
      const first = idOf(await ask(key, LIST, { idempotencyKey: 'upload-1' }).expect(200));
      await answeredEarlier(database, first, 23);
      const old = await receivedEarlier(database, first, 25);
      await removeExpired(proxy);
      for (const idempotencyKey of [undefined, 'upload-2']) {
        const { body } = await ask(key, LIST, { ...(idempotencyKey && { idempotencyKey }) }).expect(409);
        expect(body).toMatchObject({
          code: 'suspected_duplicate',
          first_call_id: old,
          first_call_state: 'succeeded',
        });
      }
      await ask(key, LIST, { idempotencyKey: 'upload-2', names: old }).expect(200);
      expect(upstream.received).toHaveLength(2);
    });

    it('is sent again after a day, after a verified rejection, and with another item', async () => {
      const key = await client();
      upstream.behaviour = answer(400, { status: 'error', error: 'no' });
      await settleByHand(proxy, await ask(key, LIST, { idempotencyKey: 'upload-1' }).expect(400));
      upstream.behaviour = succeed;
      const first = idOf(await ask(key, LIST, { idempotencyKey: 'upload-2' }).expect(200));
      await answeredEarlier(database, first, 25);
      await ask(key, LIST, { idempotencyKey: 'upload-3' }).expect(200);
      await ask(key, { airtimes: [...LIST.airtimes].reverse() }, { idempotencyKey: 'upload-4' }).expect(200);
    });
  });
});
