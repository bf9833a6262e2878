import { createHmac } from 'node:crypto';
import { Client } from 'pg';
import { first } from '../../support/examples/first';
import { answer, FakeUpstream, hang, ReceivedRequest } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { airtime, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

const SECRET_BYTES = Buffer.from('a secret of 24 bytes ---');
const SECRET = `whsec_${SECRET_BYTES.toString('base64')}`;

interface EventBody {
  eventType: string;
  status: string;
  chiRef: string | number;
  amount: number;
}

describe('the events of the sandbox', () => {
  let sandbox: TestSandbox;
  let receiver: FakeUpstream;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(async () => {
    await sandbox.control('post', '/reset').expect(204);
    receiver = await FakeUpstream.start();
  });
  afterEach(() => receiver.stop());

  const listen = (events: object = {}) =>
    sandbox.control('patch', '/settings', {
      events: { url: `${receiver.url}/hook`, secret: SECRET, ...events },
    });
  const batch = (...usd: number[]) => ({ airtimes: usd.flatMap((value) => airtime(value).airtimes) });
  const pay = async (...usd: number[]) =>
    (await sandbox.post('/payouts/airtime', batch(...usd)).expect(200)).body.data.data;
  const received = async (count: number) => {
    await eventually(() => receiver.received.length >= count);
    return receiver.received;
  };
  const listed = async () => (await sandbox.control('get', '/events').expect(200)).body;
  const delivered = async (count: number) => {
    await eventually(async () => (await listed()).filter((event) => event.deliveredAt).length === count);
    return listed();
  };
  const idsOf = (requests: ReceivedRequest[]) => requests.map(({ headers }) => headers['webhook-id']);
  const bodiesOf = (requests: ReceivedRequest[]) => requests.map(({ body }) => JSON.parse(body) as EventBody);

  it('report a payout, signed for verification by its receiver', async () => {
    await listen().expect(200);
    const transaction = first(await pay(2.5));
    const [event] = await received(1);
    expect(event).toMatchObject({ method: 'POST', url: '/hook' });
    expect(JSON.parse(event!.body)).toEqual({
      eventType: 'transaction.paid',
      issueID: transaction.issueID,
      status: 'paid',
      chiRef: transaction.chiRef,
      amount: 2.5,
      meta: { id: transaction.id, type: 'airtime' },
    });
    for (const name of ['svix', 'webhook']) {
      const part = (which: string) => String(event!.headers[`${name}-${which}`]);
      const signed = `${part('id')}.${part('timestamp')}.${event!.body}`;
      const mac = createHmac('sha256', SECRET_BYTES).update(signed).digest('base64');
      expect(part('signature')).toBe(`v1,${mac}`);
      expect(part('timestamp')).toMatch(/^\d{10}$/);
    }
    expect(await delivered(1)).toEqual([
      {
        id: event!.headers['webhook-id'],
        status: 'paid',
        transactionId: transaction.id,
        chiRef: transaction.chiRef,
        changedAt: expect.any(String),
        dueAt: null,
        deliveredAt: expect.any(String),
        attempts: [{ at: expect.any(String), httpStatus: 200, error: null }],
      },
    ]);
  });

  it('are signed with the bytes of a secret without whsec_', async () => {
    await listen({ secret: 'plain text' }).expect(200);
    await pay(1);
    const [{ headers, body } = {} as ReceivedRequest] = await received(1);
    const signed = `${String(headers['svix-id'])}.${String(headers['svix-timestamp'])}.${body}`;
    const mac = createHmac('sha256', 'plain text').update(signed).digest('base64');
    expect(headers['svix-signature']).toBe(`v1,${mac}`);
  });

  it('are sent for each item, in order or in reverse', async () => {
    await listen().expect(200);
    await pay(1, 2, 3);
    expect(bodiesOf(await received(3)).map(({ amount }) => amount)).toEqual([1, 2, 3]);
    await listen({ reversed: true }).expect(200);
    await pay(4, 5, 6);
    expect(bodiesOf(await received(6)).map(({ amount }) => amount)).toEqual([1, 2, 3, 6, 5, 4]);
    expect(new Set(idsOf(receiver.received)).size).toBe(6);
  });

  it('are sent as many times as requested, under the same ID', async () => {
    await listen({ copies: 3 }).expect(200);
    await pay(1);
    const [copy, ...others] = await received(3);
    expect(others.map(({ body }) => body)).toEqual([copy!.body, copy!.body]);
    const event = first(await delivered(1));
    expect(event?.attempts).toHaveLength(3);
    expect(idsOf(receiver.received)).toEqual([event?.id, event?.id, event?.id]);
  });

  it('are discarded by a reset, even during a hanging delivery', async () => {
    receiver.behaviour = hang;
    await listen().expect(200);
    await pay(1, 2, 3);
    await received(1);
    await sandbox.control('post', '/reset').expect(204);
    const next = await FakeUpstream.start();
    await listen({ url: next.url }).expect(200);
    await pay(4);
    await delivered(1);
    expect(bodiesOf(next.received)).toMatchObject([{ amount: 4 }]);
    expect(receiver.received).toHaveLength(1);
    await next.stop();
  });

  it('wait for a URL without attempts', async () => {
    let take = () => {};
    receiver.behaviour = (...request) => (take = () => answer(200, {})(...request));
    await listen().expect(200);
    await pay(1, 2, 3);
    await received(1);
    await listen({ url: '' }).expect(200);
    take();
    await delivered(1);
    expect((await listed()).map(({ attempts }) => attempts.length)).toEqual([0, 0, 1]);
    receiver.behaviour = answer(200, {});
    await listen().expect(200);
    const events = await delivered(3);
    expect(events.map(({ attempts }) => attempts.length)).toEqual([1, 1, 1]);
    expect(bodiesOf(receiver.received).map(({ amount }) => amount)).toEqual([1, 2, 3]);
  });

  it('have the newer status words with the quirk', async () => {
    await sandbox.control('patch', '/settings', { quirks: { newStatusWords: true } }).expect(200);
    await listen().expect(200);
    await sandbox.post('/payouts/airtime', airtime(1, '+254799990104')).expect(200);
    await pay(1);
    const statuses = bodiesOf(await received(2)).map(({ eventType, status }) => [eventType, status]);
    expect(statuses).toEqual([
      ['transaction.FAILED', 'FAILED'],
      ['transaction.SUCCESSFUL', 'SUCCESSFUL'],
    ]);
  });

  it('have a number as chiRef with the quirk', async () => {
    await sandbox.control('patch', '/settings', { quirks: { numericChiRefInEvents: true } }).expect(200);
    await listen().expect(200);
    const { chiRef } = first(await pay(1));
    const [body] = bodiesOf(await received(1));
    expect(body?.chiRef).toBe(Number(`0x${chiRef.replaceAll('-', '').slice(0, 12)}`));
  });

  it('are retried under the same ID until a 2xx', async () => {
    receiver.behaviour = (...request) =>
      answer(receiver.received.length === 1 ? 302 : 204, '', { location: '/elsewhere' })(...request);
    await listen().expect(200);
    await pay(1);
    const event = first(await delivered(1));
    expect(event?.attempts).toMatchObject([{ httpStatus: 302, error: null }, { httpStatus: 204 }]);
    expect(idsOf(receiver.received)).toEqual([event?.id, event?.id]);
  });

  it('are abandoned after the last attempt until they are resent', async () => {
    receiver.behaviour = answer(500, {});
    await listen().expect(200);
    await pay(1);
    await eventually(async () => first(await listed()).attempts.length > 0);
    const client = new Client({ connectionString: sandbox.own.sandboxUrl });
    await client.connect();
    // After five attempts, which take minutes.
    await client.query('UPDATE events SET tries = 5, due_at = now()');
    await client.end();
    await eventually(async () => first(await listed()).dueAt === null);
    const { id, deliveredAt } = first(await listed());
    expect(deliveredAt).toBeNull();
    receiver.behaviour = answer(200, {});
    await sandbox.control('post', `/events/${id}/resend`).expect(202);
    expect((await delivered(1))[0]?.id).toBe(id);
  });

  it('are resent by ID, or return 404', async () => {
    await listen().expect(200);
    await pay(1);
    const { id } = first(await delivered(1));
    await sandbox.control('post', `/events/${id}/resend`).expect(202);
    expect(idsOf(await received(2))).toEqual([id, id]);
    await sandbox.control('post', '/events/evt_0/resend').expect(404);
  });

  it('begin once there is a receiver, and survive a restart', async () => {
    await pay(1);
    const url = receiver.url;
    await listen().expect(200);
    await receiver.stop();
    await pay(2);
    await eventually(async () => first(await listed()).attempts.length > 0);
    expect(await listed()).toMatchObject([{ attempts: [{ httpStatus: null, error: 'ECONNREFUSED' }] }]);
    const { id } = first(await listed());
    const { sandbox: before, database, own } = sandbox;
    await before.close();
    await database.$disconnect();

    receiver = await FakeUpstream.start(Number(new URL(url).port));
    const restarted = await startSandbox({}, own);
    sandbox = { ...restarted, close: () => restarted.close().then(() => own.close()) };
    await listen({ url }).expect(200);
    expect(idsOf(await received(1))).toEqual([id]);
    expect(bodiesOf(receiver.received)).toMatchObject([{ amount: 2 }]);
  });

  it('never delay or fail a payout', async () => {
    receiver.behaviour = hang;
    await listen().expect(200);
    await pay(1);
    await received(1);
    await pay(2);
    expect(await sandbox.balance('airtime')).toBe(9_997);
    expect(await listed()).toMatchObject([{ deliveredAt: null }, { deliveredAt: null }]);
  });
});
