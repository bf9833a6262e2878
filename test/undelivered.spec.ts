import { Agent, request as newRequest } from 'node:http';
import { promisify } from 'node:util';
import { RecentContents } from '../src/journal/recent-contents';
import type { CallRecord } from './support/api';
import { answeredEarlier, receivedEarlier } from './support/earlier';
import { answer } from './support/fake-upstream';
import { holdWrites, writesWait } from './support/held-writes';
import { AIRTIME, eventually, Paying, startPaying, SUCCESS } from './support/paying';

const PATH = '/payouts/airtime';

/** Promise 2, part: a client that hangs up before its answer has been told nothing, and tries again. */
describe('an answer that its caller never reads', () => {
  let paying: Paying;
  let clients = 0;

  beforeAll(async () => void (paying = await startPaying({ duplicateGuard: true, duplicateWindowSeconds: 0 })));
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = answer(200, SUCCESS);
  });

  const client = async () => (await paying.proxy.client(`app-${(clients += 1)}`, 'pay', 'read')).key;

  /** Returns the upstream's answer to the next request, to be given when the test says so. */
  const heldAnswer = () =>
    new Promise<() => void>((resolve) => {
      paying.upstream.behaviour = (...args) => resolve(() => answer(200, SUCCESS)(...args));
    });

  /** Sends a request whose client may hang up. */
  const send = (key: string) => {
    const agent = new Agent();
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': 'first' };
    const sent = newRequest(`${paying.proxy.url}/api/v0.1${PATH}`, { agent, method: 'POST', headers });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify(AIRTIME));
    return async () => {
      const before = await connections();
      sent.destroy();
      await eventually(async () => (await connections()) < before);
    };
  };
  const connections = () => {
    const server = paying.proxy.app.getHttpServer();
    return promisify(server.getConnections.bind(server))();
  };

  /** Returns the only call of a client, once its outcome is recorded. */
  async function onlyCall(key: string): Promise<CallRecord> {
    let calls: CallRecord[] = [];
    await eventually(async () => {
      ({ calls } = (await paying.proxy.get(key, '/v1/calls').expect(200)).body);
      return calls[0]?.outcome === 'succeeded' && calls[0].undelivered;
    });
    expect(calls).toHaveLength(1);
    return calls[0] as CallRecord;
  }

  async function unread(key: string): Promise<CallRecord> {
    const arrived = heldAnswer();
    const hangUp = send(key);
    const release = await arrived;
    await hangUp();
    release();
    return onlyCall(key);
  }

  const again = (key: string, idempotencyKey?: string) => {
    const request = paying.proxy.post(key, PATH, AIRTIME);
    return idempotencyKey === undefined ? request : request.set('Idempotency-Key', idempotencyKey);
  };

  it('is not paid around with another key or none, and paid again if the request names the call', async () => {
    const key = await client();
    const { id, settlements } = await unread(key);
    expect(settlements).toEqual([]);
    for (const idempotencyKey of [undefined, 'second']) {
      const { body } = await again(key, idempotencyKey).expect(409);
      expect(body).toMatchObject({ code: 'suspected_duplicate', first_call_id: id, first_call_state: 'succeeded' });
    }
    expect(paying.upstream.received).toHaveLength(1);
    paying.upstream.behaviour = answer(200, SUCCESS);
    const { headers } = await again(key, 'second').set('Allow-Duplicate-Of', id).expect(200);
    const { body } = await paying.proxy.get(key, `/v1/calls/${headers['x-call-id']}`).expect(200);
    expect(body).toMatchObject({ duplicate_of: id, undelivered: false });
  });

  it('is given to a request with the same key', async () => {
    const key = await client();
    const { id } = await unread(key);
    const { body, headers } = await again(key, 'first').expect(200);
    expect([body, headers['x-call-id'], headers['idempotent-replayed']]).toEqual([SUCCESS, id, 'true']);
  });

  it('stands in the way for a day', async () => {
    const key = await client();
    const id = await receivedEarlier(paying.proxy.database, (await unread(key)).id, 25);
    await answeredEarlier(paying.proxy.database, id, 23);
    const contents = paying.proxy.app.get(RecentContents, { strict: false });
    await contents.runOnce();
    await again(key, 'second').expect(409);
    await answeredEarlier(paying.proxy.database, id, 2);
    await contents.runOnce();
    paying.upstream.behaviour = answer(200, SUCCESS);
    await again(key, 'second').expect(200);
  });

  it('is recorded by a settlement if the caller hangs up while the outcome is written', async () => {
    const { database } = paying.proxy;
    const key = await client();
    await database.query('BEGIN');
    await holdWrites(database, 'outcome');
    const hangUp = send(key);
    await writesWait(database, 'outcome', 1);
    await hangUp();
    await database.query('ROLLBACK');
    const call = await onlyCall(key);
    expect(call.settlements).toMatchObject([{ source: 'answer', outcome: null, counted_usd: '2.5', entries: [] }]);
    expect(call.items).toMatchObject([{ state: 'paid' }]);
    const { body } = await again(key, 'second').expect(409);
    expect(body).toMatchObject({ first_call_id: call.id, first_call_state: 'succeeded' });
  });

  it('does not concern a caller that reads its answer', async () => {
    const key = await client();
    const { headers } = await again(key, 'first').expect(200);
    const { body } = await paying.proxy.get(key, `/v1/calls/${headers['x-call-id']}`).expect(200);
    expect(body.undelivered).toBe(false);
    await again(key, 'second').expect(200);
  });
});
