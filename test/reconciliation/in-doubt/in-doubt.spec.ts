import { v7 as uuidv7 } from 'uuid';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { CALL_STATES } from '../../../src/operations/lifecycle/lifecycle';
import { CALLS, STATE_COLUMNS } from '../../../src/operations/lifecycle/lifecycle-sql';
import { TestDatabase } from '../../support/databases/test-database';
import { product } from '../../support/examples/combinations';
import supertest from '../../support/http/supertest';
import { reset, succeed } from '../../support/network/fake-upstream';
import { Combination, insertCalls } from '../../support/payments/made-up-calls';
import { PaymentScene, startPaying } from '../../support/payments/paying';
import { insertOutcomes } from '../../support/records/documents';
import { copyIntent, live } from '../../support/records/intents';

const LIVING = 42;
const DEAD = 41;

/** Unknown outcomes are listed, and settled by a person other than the requester. */
describe('calls in doubt', () => {
  let paying: PaymentScene;
  let approver: string;
  let approverId: string;
  /** A paid call as a template. */
  let model: string;

  beforeAll(async () => {
    paying = await startPaying();
    ({ key: approver, id: approverId } = await paying.proxy.client('approver', 'approve', 'audit'));
    await live(paying.proxy.database, LIVING);
  });
  afterAll(() => paying.close());
  beforeEach(async () => {
    paying.upstream.behaviour = succeed;
    model = (await paying.pay().expect(200)).headers['x-call-id'] ?? '';
  });

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const sent = (changes: Record<string, unknown> = {}, template = model) =>
    copyIntent(paying.proxy.database, template, { process: DEAD, recorded_at: ago(60), ...changes });
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const read = async (id: string) => (await paying.proxy.get(paying.app, `/v1/calls/${id}`).expect(200)).body;
  const resolve = (id: string, body: object, key = approver) =>
    supertest(paying.proxy.url).post(`/v1/calls/${id}/resolution`).set('X-API-Key', key).send(body);
  const addOutcome = (id: string, kind: string) =>
    insertOutcomes(paying.proxy.database, [{ intent_id: id, kind }]);

  it('include calls of an ended process at once, and of a live process after every timeout', async () => {
    const gone = await sent();
    const working = await sent({ process: LIVING });
    const old = await sent({ process: LIVING, recorded_at: '2026-01-01T00:00:00Z' });
    expect(await read(gone)).toMatchObject({ outcome: 'unknown', upstream: null });
    expect(await read(working)).toMatchObject({ outcome: 'in_progress', in_doubt_since: null });
    expect(await read(old)).toMatchObject({ outcome: 'unknown', in_doubt_since: '2026-01-01T00:00:00.000Z' });
    const listed = await paying.listed('unknown');
    expect([gone, working, old].map((id) => listed.includes(id))).toEqual([true, false, true]);
  });

  it('are in doubt from the timeout of their answer on, also for the app', async () => {
    paying.upstream.behaviour = reset;
    const id = (await paying.pay().expect(502)).headers['x-call-id'] ?? '';
    const { outcome, in_doubt_since: since, timings } = await read(id);
    expect([outcome, since]).toEqual(['unknown', timings.answered_at]);
  });

  it('leave the doubt when an outcome arrives, however late', async () => {
    const id = await sent();
    await addOutcome(id, 'succeeded');
    expect(await read(id)).toMatchObject({ outcome: 'succeeded', in_doubt_since: null });
    expect(await paying.listed('unknown')).not.toContain(id);
  });

  it.each(['confirmed', 'not_executed'])(
    'are settled as %s once, with a reason, and shown as settled',
    async (outcome) => {
      const id = await sent();
      const reason = 'Ada (a••@example.com) asked the provider'; // stored permanently, with contacts masked
      const asked = { outcome, reason: 'Ada (ada@example.com) asked the provider' };
      const { body } = await resolve(id, asked).expect(200);
      expect(body).toMatchObject({
        id,
        outcome,
        in_doubt_since: null,
        resolution: { outcome, reason, resolved_by: { actor: null } },
      });
      expect((await read(id)).resolution).toMatchObject({
        outcome,
        reason,
        resolved_by: { client: { id: approverId, name: 'approver' } },
      });
      expect(await paying.listed('unknown')).not.toContain(id);
      expect(await paying.listed(outcome)).toContain(id);
      expect((await resolve(id, { outcome: 'confirmed', reason }).expect(409)).body.code).toBe(
        'not_in_doubt',
      );
    },
  );

  it('release their reservation as not executed, and keep it as confirmed', async () => {
    const day = '2026-01-02';
    const calls = [await sent({ reserved_on: day }), await sent({ reserved_on: day })];
    await query('INSERT INTO spending SELECT client_id, $2, 100.000001 FROM intent WHERE id = $1', [
      model,
      day,
    ]);
    const spent = async () => (await query('SELECT usd::text FROM spending WHERE day = $1', [day]))[0]?.usd;
    await resolve(calls[0] ?? '', { outcome: 'confirmed', reason: 'seen there' }).expect(200);
    expect(await spent()).toBe('100.000001');
    await resolve(calls[1] ?? '', { outcome: 'not_executed', reason: 'not there' }).expect(200);
    expect(await spent()).toBe('97.500001');
  });

  it('are settled once by many concurrent requests', async () => {
    const id = await sent();
    const outcomes = ['confirmed', 'not_executed'];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => resolve(id, { outcome: outcomes[n % 2], reason: `number ${n}` })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'not_in_doubt')).toHaveLength(19);
    expect((await read(id)).resolution?.reason).toBe(won[0]?.body.resolution?.reason);
  });

  it('cannot be settled by the client or the person that requested them', async () => {
    const settle = { outcome: 'confirmed', reason: 'I know' };
    const { id: clientId, key } = await paying.proxy.client(`both-${uuidv7().slice(-12)}`, 'approve', 'pay');
    const { body } = await resolve(await sent({ client_id: clientId }), settle, key).expect(403);
    expect([body.code, body.detail]).toEqual([
      'own_approval',
      expect.stringContaining('You cannot settle your own call'),
    ]);
    const { headers } = await paying.pay().set('X-Actor', 'Ada').expect(200);
    const actors = await sent({}, headers['x-call-id']);
    await resolve(actors, settle).set('X-Actor', 'aDA').expect(403);
    const forged = await resolve(actors, settle).set('X-Actor', 'Grace').expect(403);
    expect(forged.body.detail).toContain('keys issue --client approver --person');
    const clients = paying.proxy.app.get(ClientsService, { strict: false });
    const { key: grace } = await clients.issueKey('approver', { person: 'Grace' });
    const settled = await resolve(actors, settle, grace).set('X-Actor', 'Alan').expect(200);
    expect(settled.body.resolution?.resolved_by?.actor).toBe('Grace');
    const { body: shared } = await resolve(await sent(), settle)
      .set('X-Actor', 'Grace')
      .expect(200);
    expect(shared.resolution?.resolved_by?.actor).toBeNull();
  });

  it('cannot be settled before their answer has timed out, lest the app pay again', async () => {
    const settle = { outcome: 'not_executed', reason: 'its process is gone' };
    const early = await sent({ recorded_at: new Date() });
    expect(await read(early)).toMatchObject({ outcome: 'unknown' }); // listed immediately
    expect((await resolve(early, settle).expect(409)).body.code).toBe('not_in_doubt');
    // A body may take a minute to arrive. The time of receipt does not count.
    const slow = await sent({ recorded_at: new Date(), received_at: ago(600) });
    expect((await resolve(slow, settle).expect(409)).body.code).toBe('not_in_doubt');
    await resolve(await sent({ recorded_at: ago(31) }), settle).expect(200);
    // Its process is alive, and may still record the outcome.
    const writing = await sent({ recorded_at: ago(120), process: LIVING });
    expect((await resolve(writing, settle).expect(409)).body.code).toBe('not_in_doubt');
    await resolve(await sent({ recorded_at: ago(200), process: LIVING }), settle).expect(200);
  });

  it('are the only calls that can be settled', async () => {
    const settle = { outcome: 'not_executed', reason: 'no' };
    expect((await resolve(model, settle).expect(409)).body.code).toBe('not_in_doubt');
    expect((await resolve(await sent({ process: LIVING }), settle).expect(409)).body.code).toBe(
      'not_in_doubt',
    );
    for (const id of [uuidv7(), 'x'])
      expect((await resolve(id, settle).expect(404)).body.code).toBe('call_not_found');
    await resolve(await sent(), settle, paying.auditor).expect(403);
    const { body } = await resolve(await sent(), { outcome: 'maybe' }).expect(400);
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(['/outcome', '/reason']);
  });

  it('have the same state in the search and in the record for every combination of records', async () => {
    const { id: client_id } = await paying.proxy.client('combined', 'read');
    const [old, fresh] = ['2026-01-01T00:00:00Z', new Date().toISOString()];
    const [before, after] = ['2026-01-02T00:00:00Z', '2099-01-01T00:00:00Z'];
    const approved = product({ kind: ['approved'], decided_at: [old, fresh], process: [DEAD, LIVING] });
    const released = { kind: 'released', decided_at: fresh, process: LIVING }; // of a queued call
    const rejected = { kind: 'rejected', decided_at: old, process: DEAD }; // never sent
    const combinations: Combination[] = product({
      recorded_at: [old, fresh],
      process: [DEAD, LIVING],
      held: [
        {},
        { expires_at: after },
        ...[before, after].map((at) => ({ held_for: 'over_threshold', expires_at: at })),
      ],
      decision: [null, ...approved, released, rejected],
      outcome: [null, 'succeeded', 'rejected', 'not_sent', 'unknown'],
      resolution: [null, 'confirmed', 'not_executed'],
      refused: [false, true],
    }).filter(
      // An opened call is not refused, and only a queued call is released.
      ({ refused, outcome, held, decision }) =>
        (!refused || outcome === null) &&
        (decision !== released || ('expires_at' in held && !('held_for' in held))),
    );
    await insertCalls(paying.proxy.database, model, combinations, client_id);
    const found = new Map<string, string>();
    for (const word of CALL_STATES) {
      for (const { id, outcome } of await all(`client=combined&outcome=${word}`)) {
        expect([id, outcome]).toEqual([id, word]);
        expect(found.has(id)).toBe(false);
        found.set(id, word);
      }
    }
    expect(found.size).toBe(combinations.length);
    expect(new Set(found.values())).toEqual(new Set(CALL_STATES));
    const differing = await query(
      `SELECT id FROM (SELECT i.id, ${STATE_COLUMNS.sql} FROM ${CALLS.sql}) AS a
        JOIN call_state c ON c.call_id = a.id
       WHERE (a.state, a.expires_at, a.process, a.released_at) IS DISTINCT FROM (c.state, c.expires_at,
         c.process, c.released_at)`,
    );
    expect(differing).toEqual([]); // the SQL of the journal, and the search index
  });

  async function all(filter: string): Promise<{ id: string; outcome: string }[]> {
    const calls: { id: string; outcome: string }[] = [];
    let token: string | null = '';
    while (token !== null) {
      const from: string = token === '' ? '' : `&page_token=${token}`;
      const { body } = await paying.proxy
        .get(paying.auditor, `/v1/audit/calls?${filter}&page_size=200${from}`)
        .expect(200);
      calls.push(...body.calls);
      token = body.next_page_token;
    }
    return calls;
  }
});
