import { v7 as uuidv7 } from 'uuid';
import { callsCommands } from '../src/cli/calls';
import { editRecord } from './support/documents';
import { answer, reset } from './support/fake-upstream';
import { copyIntent } from './support/intents';
import { airtime, Paying, phones, startPaying, SUCCESS } from './support/paying';
import supertest from './support/supertest';
import { asText } from './support/export-files';
import { TestDatabase } from './support/test-database';

const CAP_USD = 10;

/** A resolution that turns out to be wrong is corrected by a second resolution. The first one stays on record. */
describe('the correction of a resolution', () => {
  let paying: Paying;
  let approver: string;
  let app: { id: string; key: string };
  const numbers = phones(200);

  beforeAll(async () => {
    paying = await startPaying();
    approver = (await paying.proxy.client('approver', 'approve', 'audit')).key;
  });
  afterAll(() => paying.close());
  beforeEach(async () => {
    paying.upstream.behaviour = answer(200, SUCCESS);
    app = await paying.proxy.client(`app-${uuidv7()}`, 'pay', 'read');
    await query('UPDATE client SET daily_cap_usd = $2 WHERE id = $1', [app.id, CAP_USD]);
  });

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const body = (valueInUSD: number) => {
    const [item] = airtime(numbers.pop() ?? '').airtimes;
    return { airtimes: [{ ...item, valueInUSD }] };
  };
  const pay = (what: object, key: string = uuidv7()) =>
    paying.proxy.post(app.key, '/payouts/airtime', what).set('Idempotency-Key', key);
  const lose = async (what: object, key?: string) => {
    paying.upstream.behaviour = reset;
    const { headers } = await pay(what, key).expect(502);
    paying.upstream.behaviour = answer(200, SUCCESS);
    return headers['x-call-id'] ?? '';
  };
  const resolve = (id: string, outcome: string, supersedes?: string, key = approver) =>
    supertest(paying.proxy.url)
      .post(`/v1/calls/${id}/resolution`)
      .set('X-API-Key', key)
      .send({ outcome, reason: `it was ${outcome}`, supersedes });
  const read = async (id: string) => (await paying.proxy.get(app.key, `/v1/calls/${id}`).expect(200)).body;
  const spent = async () =>
    Number((await query('SELECT sum(usd)::float AS usd FROM spending WHERE client_id = $1', [app.id]))[0]?.usd ?? 0);

  it('makes a released reservation again, even over the cap, and releases it once', async () => {
    const id = await lose(body(6));
    expect((await resolve(id, 'not_executed').expect(200)).body.resolution).toMatchObject({ id, superseded: [] });
    expect(await spent()).toBe(0);
    await pay(body(8)).expect(200);
    const { body: confirmed } = await resolve(id, 'confirmed', id).expect(200);
    expect(confirmed).toMatchObject({
      outcome: 'confirmed',
      resolution: { outcome: 'confirmed', superseded: [{ id }] },
    });
    expect(await spent()).toBe(14); // what was paid counts
    expect((await pay(body(0.5)).expect(403)).body.code).toBe('cap_exceeded');
    const { body: notExecuted } = await resolve(id, 'not_executed', confirmed.resolution!.id).expect(200);
    expect(await spent()).toBe(8);
    expect(
      (await resolve(id, 'confirmed', notExecuted.resolution?.id).expect(200)).body.resolution?.superseded,
    ).toHaveLength(3);
    expect(await spent()).toBe(14);
    // The upstream's own word comes late: it gives back what the correction reserved, once.
    await query('BEGIN');
    await query(`SELECT release_reservations(ARRAY[$1::uuid])`, [id]);
    await query(`SELECT release_reservations(ARRAY[$1::uuid])`, [id]);
    await query('COMMIT');
    expect(await spent()).toBe(8);
  });

  it('releases the reservation of a wrong `confirmed`', async () => {
    const id = await lose(body(9));
    await resolve(id, 'confirmed').expect(200);
    expect(await spent()).toBe(9);
    await resolve(id, 'not_executed', id).expect(200);
    expect(await spent()).toBe(0);
    await pay(body(10)).expect(200);
  });

  it('makes no reservation for a call that had none', async () => {
    const id = await copyIntent(paying.proxy.database, await lose(body(1)), {
      reserved_on: null,
      recorded_at: '2026-01-01T00:00:00Z',
      process: null,
    });
    const before = await spent();
    await resolve(id, 'not_executed').expect(200);
    await resolve(id, 'confirmed', id).expect(200);
    expect(await spent()).toBe(before);
  });

  it('shows all resolutions with author and reason, and seals them', async () => {
    const id = await lose(body(1));
    await resolve(id, 'not_executed').expect(200);
    const corrected = await resolve(id, 'confirmed', id).expect(200);
    const earlier = {
      id,
      outcome: 'not_executed',
      reason: 'it was not_executed',
      resolved_by: { client: { name: 'approver' } },
    };
    const story = (await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}`).expect(200)).body;
    expect(story).toMatchObject({
      outcome: 'confirmed',
      resolution: {
        id: corrected.body.resolution!.id,
        outcome: 'confirmed',
        reason: 'it was confirmed',
        superseded: [earlier],
      },
    });
    const kinds = story.seals.map(({ kind }) => kind);
    expect(kinds).toEqual(['intent', 'outcome', 'resolution', 'reservation_release', 'resolution_correction']);
    // One row in every list, by the outcome that holds.
    expect(await paying.listed('confirmed')).toContain(id);
    expect(await paying.listed('not_executed')).not.toContain(id);
    expect(await query('SELECT state FROM call_state WHERE call_id = $1', [id])).toEqual([{ state: 'confirmed' }]);
    const exported = await paying.proxy
      .get(paying.auditor, '/v1/audit/export?format=ndjson&outcome=confirmed')
      .buffer(true)
      .parse(asText);
    expect(exported.status).toBe(200);
    expect(exported.body.split('\n').filter((line) => line.includes(id))).toHaveLength(1);
    for (const sql of ['UPDATE resolution_correction SET outcome = outcome', 'DELETE FROM resolution_correction']) {
      await expect(query(sql)).rejects.toThrow();
    }
  });

  it('leaves the idempotency key to its current call', async () => {
    const asked = body(2);
    const id = await lose(asked, 'key');
    await resolve(id, 'not_executed').expect(200);
    await resolve(id, 'confirmed', id).expect(200);
    expect((await pay(asked, 'key').expect(200)).body).toMatchObject({ call_id: id }); // nobody has used it since
    await resolve(id, 'not_executed', (await read(id)).resolution?.id).expect(200);
    const second = (await pay(asked, 'key').expect(200)).headers['x-call-id'] ?? '';
    expect(second).not.toBe(id);
    // It was executed after all: it was paid twice, and that is on record. The key answers for the second call.
    await resolve(id, 'confirmed', (await read(id)).resolution!.id).expect(200);
    expect((await pay(asked, 'key').expect(200)).headers['x-call-id']).toBe(second);
    expect([(await read(id)).outcome, (await read(second)).outcome, await spent()]).toEqual([
      'confirmed',
      'succeeded',
      4,
    ]);
  });

  it('lets one of two simultaneous corrections win, and shows the other the result', async () => {
    const id = await lose(body(1));
    await resolve(id, 'not_executed').expect(200);
    const answers = await Promise.all(Array.from({ length: 6 }, () => resolve(id, 'confirmed', id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const { resolution } = await read(id);
    expect(resolution?.superseded).toHaveLength(1);
    for (const { body: told } of answers.filter(({ status }) => status === 409)) {
      expect(told.code).toBe('resolution_superseded');
      expect(told.detail).toContain(`now settled as confirmed, by resolution ${resolution?.id}`);
    }
    expect(await spent()).toBe(1);
  });

  it('works from the command line, too', async () => {
    const id = await lose(body(1));
    const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const run = (...more: string[]) =>
      callsCommands().parseAsync(['settle', id, '--reason', 'asked', '--json', ...more], { from: 'user' });
    Object.assign(process.env, { PORT: new URL(paying.proxy.url).port, PAYOUT_PROXY_KEY: approver });
    await run('--outcome', 'not_executed');
    await run('--outcome', 'confirmed', '--supersedes', id);
    expect(JSON.parse(String(written.mock.lastCall?.[0]))).toMatchObject({ resolution: { outcome: 'confirmed' } });
    await expect(run('--outcome', 'not_executed', '--supersedes', id)).rejects.toThrow('now settled as confirmed');
    expect((await read(id)).outcome).toBe('confirmed');
  });

  it('is rejected if it corrects nothing', async () => {
    const open = await lose(body(1));
    expect((await resolve(open, 'confirmed', open).expect(409)).body.code).toBe('not_in_doubt'); // not settled yet
    await resolve(open, 'confirmed').expect(200);
    const again = (await resolve(open, 'not_executed').expect(409)).body;
    expect([again.code, again.detail]).toEqual(['not_in_doubt', expect.stringContaining(`"supersedes": "${open}"`)]);
    expect((await resolve(open, 'confirmed', open).expect(400)).body.errors).toMatchObject([{ pointer: '/outcome' }]);
    expect((await resolve(open, 'not_executed', uuidv7()).expect(409)).body.code).toBe('resolution_superseded');
    await resolve(open, 'not_executed', open, app.key).expect(403);
    const both = await paying.proxy.client(`both-${uuidv7().slice(-12)}`, 'approve', 'pay');
    expect((await resolve(open, 'not_executed', open, both.key).expect(200)).body.outcome).toBe('not_executed');
    // The upstream's own word is never corrected here.
    const paid = (await pay(body(1)).expect(200)).headers['x-call-id'] ?? '';
    expect((await resolve(paid, 'not_executed', paid).expect(409)).body.detail).toContain(
      "The upstream's own response is final",
    );
    const late = await lose(body(1));
    await resolve(late, 'not_executed').expect(200);
    await editRecord(paying.proxy.database, 'outcome', late, (record) => ({ ...record, kind: 'succeeded' }));
    expect((await resolve(late, 'confirmed', late).expect(409)).body.code).toBe('not_in_doubt');
  });
});
