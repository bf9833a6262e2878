import { v7 as uuidv7 } from 'uuid';
import { callsCommands, payoutsCommands } from '../../../src/cli/calls/calls';
import { TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { reset, succeed } from '../../support/network/fake-upstream';
import { airtime, PaymentScene, phones, startPaying } from '../../support/payments/paying';
import { asText } from '../../support/records/export-files';
import { copyIntent } from '../../support/records/intents';

const CAP_USD = 10;

/** A second settlement corrects a wrong one. The first stays on record. */
describe('the correction of a settlement', () => {
  let paying: PaymentScene;
  let approver: string;
  let app: { id: string; key: string };
  const numbers = phones(200);

  beforeAll(async () => {
    paying = await startPaying();
    approver = (await paying.proxy.client('approver', 'approve', 'audit')).key;
  });
  afterAll(() => paying.close());
  beforeEach(async () => {
    paying.upstream.behaviour = succeed;
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
    paying.upstream.behaviour = succeed;
    return headers['x-call-id'] ?? '';
  };
  const resolve = (id: string, outcome: string, supersedes?: string, key = approver) =>
    supertest(paying.proxy.url)
      .post(`/v1/calls/${id}/resolution`)
      .set('X-API-Key', key)
      .send({ outcome, reason: `it was ${outcome}`, supersedes });
  const settle = async (id: string, outcome: string) =>
    (await resolve(id, outcome).expect(200)).body.settlements[0]?.id ?? '';
  const read = async (id: string) => (await paying.proxy.get(app.key, `/v1/calls/${id}`).expect(200)).body;
  const spent = async () =>
    Number(
      (await query('SELECT sum(usd)::float AS usd FROM spending WHERE client_id = $1', [app.id]))[0]?.usd ??
        0,
    );

  it('restores a released reservation, even over the cap, and releases it once', async () => {
    const id = await lose(body(6));
    const first = await settle(id, 'not_executed');
    expect(await spent()).toBe(0);
    await pay(body(8)).expect(200);
    const { body: confirmed } = await resolve(id, 'confirmed', first).expect(200);
    expect(confirmed).toMatchObject({
      outcome: 'confirmed',
      resolution: { outcome: 'confirmed' },
      settlements: [{ counted_usd: '6' }, { id: first, counted_usd: '0' }],
    });
    expect(await spent()).toBe(14); // paid amounts count
    expect((await pay(body(0.5)).expect(403)).body.code).toBe('cap_exceeded');
    const { body: notExecuted } = await resolve(id, 'not_executed', confirmed.resolution!.id).expect(200);
    expect(await spent()).toBe(8);
    expect(
      (await resolve(id, 'confirmed', notExecuted.settlements[0]?.id).expect(200)).body.settlements,
    ).toHaveLength(4);
    expect(await spent()).toBe(14);
  });

  it('releases the reservation of a wrong `confirmed`', async () => {
    const id = await lose(body(9));
    const first = await settle(id, 'confirmed');
    expect(await spent()).toBe(9);
    await resolve(id, 'not_executed', first).expect(200);
    expect(await spent()).toBe(0);
    await pay(body(10)).expect(200);
  });

  it('creates no reservation for a call without one', async () => {
    const id = await copyIntent(paying.proxy.database, await lose(body(1)), {
      reserved_on: null,
      recorded_at: '2026-01-01T00:00:00Z',
      process: null,
    });
    const before = await spent();
    await resolve(id, 'confirmed', await settle(id, 'not_executed')).expect(200);
    expect(await spent()).toBe(before);
  });

  it('shows all settlements with author and reason, and seals them', async () => {
    const id = await lose(body(1));
    const first = await settle(id, 'not_executed');
    const corrected = await resolve(id, 'confirmed', first).expect(200);
    const earlier = {
      id: first,
      outcome: 'not_executed',
      source: 'person',
      reason: 'it was not_executed',
      recorded_by: { client: { name: 'approver' } },
      entries: [{ position: 0, entry: 'not_executed', from: 'reserved', to: 'available', amount_usd: '1' }],
    };
    const timeline = (await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}`).expect(200)).body;
    expect(timeline).toMatchObject({
      outcome: 'confirmed',
      resolution: {
        id: corrected.body.resolution!.id,
        outcome: 'confirmed',
        reason: 'it was confirmed',
      },
      settlements: [{ entries: [{ entry: 'paid', from: 'available', to: 'recipient' }] }, earlier],
    });
    const kinds = timeline.seals.map(({ kind }) => kind);
    expect(kinds).toEqual(['intent', 'outcome', 'settlement', 'settlement']);
    // One row in every list, by its current outcome.
    expect(await paying.listed('confirmed')).toContain(id);
    expect(await paying.listed('not_executed')).not.toContain(id);
    expect(await query('SELECT state FROM call_state WHERE call_id = $1', [id])).toEqual([
      { state: 'confirmed' },
    ]);
    const exported = await paying.proxy
      .get(paying.auditor, '/v1/audit/export?format=ndjson&outcome=confirmed')
      .buffer(true)
      .parse(asText);
    expect(exported.status).toBe(200);
    expect(exported.body.split('\n').filter((line) => line.includes(id))).toHaveLength(1);
    for (const sql of ['UPDATE settlement SET resolution = resolution', 'DELETE FROM settlement']) {
      await expect(query(sql)).rejects.toThrow();
    }
  });

  it('leaves the idempotency key to its current call', async () => {
    const asked = body(2);
    const id = await lose(asked, 'key');
    await resolve(id, 'confirmed', await settle(id, 'not_executed')).expect(200);
    expect((await pay(asked, 'key').expect(200)).body).toMatchObject({ call_id: id }); // unused since
    await resolve(id, 'not_executed', (await read(id)).settlements[0]?.id).expect(200);
    const second = (await pay(asked, 'key').expect(200)).headers['x-call-id'] ?? '';
    expect(second).not.toBe(id);
    // Both calls were executed. The double payment is on record, and the key answers for the second call.
    await resolve(id, 'confirmed', (await read(id)).settlements[0]?.id).expect(200);
    expect((await pay(asked, 'key').expect(200)).headers['x-call-id']).toBe(second);
    expect([(await read(id)).outcome, (await read(second)).outcome, await spent()]).toEqual([
      'confirmed',
      'succeeded',
      4,
    ]);
  });

  it('accepts one of two simultaneous corrections, and shows the result to the other', async () => {
    const id = await lose(body(1));
    const first = await settle(id, 'not_executed');
    const answers = await Promise.all(Array.from({ length: 6 }, () => resolve(id, 'confirmed', first)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const { settlements } = await read(id);
    expect(settlements).toHaveLength(2);
    for (const { body: told } of answers.filter(({ status }) => status === 409)) {
      expect(told.code).toBe('resolution_superseded');
      expect(told.detail).toContain(`Settlement ${settlements[0]?.id} has made the call confirmed`);
    }
    expect(await spent()).toBe(1);
  });

  it('works from the command line', async () => {
    const id = await lose(body(1));
    const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const run = (...more: string[]) =>
      callsCommands().parseAsync(['settle', id, '--reason', 'asked', '--json', ...more], { from: 'user' });
    Object.assign(process.env, { PORT: new URL(paying.proxy.url).port, PAYOUT_PROXY_KEY: approver });
    await run('--outcome', 'not_executed');
    const first = (await read(id)).settlements[0]!.id;
    await run('--outcome', 'confirmed', '--supersedes', first);
    expect(JSON.parse(String(written.mock.lastCall?.[0]))).toMatchObject({
      resolution: { outcome: 'confirmed' },
    });
    await expect(run('--outcome', 'not_executed', '--supersedes', first)).rejects.toThrow(
      'has made the call confirmed',
    );
    expect((await read(id)).outcome).toBe('confirmed');
    await run(
      '--outcome',
      'failed',
      '--supersedes',
      (await read(id)).settlements[0]!.id,
      '--payout',
      `${id}.0`,
    );
    process.env.PAYOUT_PROXY_KEY = app.key;
    await payoutsCommands().parseAsync(['show', `${id}.0`, '--json'], { from: 'user' });
    expect(JSON.parse(String(written.mock.lastCall?.[0]))).toMatchObject({
      state: 'failed',
      next: 'send_again',
    });
    written.mockClear();
    await payoutsCommands().parseAsync(['show', id], { from: 'user' });
    const printed = written.mock.calls.map(([text]) => String(text)).join('');
    expect(printed).toMatch(/failed +send_again[^]*not_executed +1 +reserved +available +person[^]*failed/);
  });

  it('is rejected if it changes nothing', async () => {
    const open = await lose(body(1));
    expect((await resolve(open, 'confirmed', open).expect(409)).body.code).toBe('not_in_doubt'); // unsettled
    const first = await settle(open, 'confirmed');
    const again = (await resolve(open, 'not_executed').expect(409)).body;
    expect([again.code, again.detail]).toEqual([
      'not_in_doubt',
      expect.stringContaining(`"supersedes": "${first}"`),
    ]);
    expect((await resolve(open, 'confirmed', first).expect(400)).body.errors).toMatchObject([
      { pointer: '/outcome' },
    ]);
    expect((await resolve(open, 'not_executed', uuidv7()).expect(409)).body.code).toBe(
      'resolution_superseded',
    );
    await resolve(open, 'not_executed', first, app.key).expect(403);
    const both = await paying.proxy.client(`both-${uuidv7().slice(-12)}`, 'approve', 'pay');
    expect((await resolve(open, 'not_executed', first, both.key).expect(200)).body.outcome).toBe(
      'not_executed',
    );
  });

  it("corrects the upstream's own answer, which stays on record", async () => {
    const id = (await pay(body(3)).expect(200)).headers['x-call-id'] ?? '';
    expect((await resolve(id, 'failed').expect(409)).body.detail).toContain(`"supersedes": "${id}"`);
    const { body: failed } = await resolve(id, 'failed', id).expect(200);
    expect(failed).toMatchObject({ outcome: 'succeeded', items: [{ state: 'failed', next: 'send_again' }] });
    expect(await spent()).toBe(0);
    const { body: paid } = await resolve(id, 'confirmed', failed.settlements[0]?.id).expect(200);
    expect(paid.items).toMatchObject([{ state: 'paid', next: 'none' }]);
    expect(await spent()).toBe(3);
  });
});
