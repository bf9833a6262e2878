import { once } from 'node:events';
import { Agent, IncomingMessage, request as newRequest, Server } from 'node:http';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { FastifyReply } from 'fastify';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { removeExpired } from '../../support/databases/expiry';
import { holdWrites, writesWait } from '../../support/databases/held-writes';
import type { CallRecord } from '../../support/http/api';
import { succeed } from '../../support/network/fake-upstream';
import { answeredEarlier, receivedEarlier } from '../../support/payments/earlier';
import { AIRTIME, eventually, PaymentScene, startPaying } from '../../support/payments/paying';

const PATH = '/payouts/airtime';

/** Promise 2, part: a client that hangs up before its answer knows nothing, and retries. */
describe('an undelivered answer', () => {
  let paying: PaymentScene;
  let clients = 0;

  beforeAll(
    async () => void (paying = await startPaying({ duplicateGuard: true, duplicateWindowSeconds: 0 })),
  );
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = succeed;
  });

  afterEach(() => jest.restoreAllMocks());

  const client = async () => (await paying.proxy.client(`app-${(clients += 1)}`, 'pay', 'read')).key;

  /** Returns the upstream's next answer, held until the test releases it. */
  const heldAnswer = () =>
    new Promise<() => void>((resolve) => {
      paying.upstream.behaviour = (...args) => resolve(() => succeed(...args));
    });

  const request = (key: string, agent = new Agent()) => {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': 'first' };
    const sent = newRequest(`${paying.proxy.url}/api/v0.1${PATH}`, { agent, method: 'POST', headers });
    sent.on('error', () => undefined);
    return sent.end(JSON.stringify(AIRTIME));
  };

  /** Sends a request whose client may hang up. */
  const send = (key: string) => {
    const sent = request(key);
    return async () => {
      const before = await connections();
      sent.destroy();
      await eventually(async () => (await connections()) < before);
    };
  };
  const server = (): Server => paying.proxy.app.getHttpServer();
  const connections = () => promisify(server().getConnections.bind(server()))();

  /** Resolves in the turn in which the operating system accepts the last byte of the next reply. */
  const nextReply = () =>
    new Promise<void>((resolve) => {
      server().once('request', (_request, response) => response.once('finish', resolve));
    });

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

  it('blocks the same payment with another key or none, unless it names the call', async () => {
    const key = await client();
    const { id, settlements } = await unread(key);
    expect(settlements).toEqual([]);
    for (const idempotencyKey of [undefined, 'second']) {
      const { body } = await again(key, idempotencyKey).expect(409);
      expect(body).toMatchObject({
        code: 'suspected_duplicate',
        first_call_id: id,
        first_call_state: 'succeeded',
      });
    }
    expect(paying.upstream.received).toHaveLength(1);
    paying.upstream.behaviour = succeed;
    const { headers } = await again(key, 'second').set('Allow-Duplicate-Of', id).expect(200);
    const { body } = await paying.proxy.get(key, `/v1/calls/${headers['x-call-id']}`).expect(200);
    expect(body).toMatchObject({ duplicate_of: id, undelivered: false });
  });

  it('is replayed to a request with the same key', async () => {
    const key = await client();
    const { id } = await unread(key);
    const { body, headers } = await again(key, 'first').expect(200);
    expect(body).toMatchObject({ status: 'success' });
    expect([headers['x-call-id'], headers['idempotent-replayed']]).toEqual([id, 'true']);
  });

  it('blocks the same content for a day', async () => {
    const key = await client();
    const id = await receivedEarlier(paying.proxy.database, (await unread(key)).id, 25);
    await answeredEarlier(paying.proxy.database, id, 23);
    await removeExpired(paying.proxy);
    await again(key, 'second').expect(409);
    await answeredEarlier(paying.proxy.database, id, 2);
    await removeExpired(paying.proxy);
    paying.upstream.behaviour = succeed;
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
    expect(call.settlements).toMatchObject([
      { source: 'answer', outcome: null, counted_usd: '2.5', entries: [] },
    ]);
    expect(call.items).toMatchObject([{ state: 'paid' }]);
    const { body } = await again(key, 'second').expect(409);
    expect(body).toMatchObject({ first_call_id: call.id, first_call_state: 'succeeded' });
  });

  it('is recorded if the caller hangs up in the turn in which the outcome is committed', async () => {
    const key = await client();
    const prisma = paying.proxy.app.get(PrismaService);
    const prepared = prisma.prepared.bind(prisma);
    jest.spyOn(prisma, 'prepared').mockImplementation(async (...statement) => {
      const rows = await prepared(...statement);
      if (statement[0] === 'insert_outcomes') sent.destroy();
      return rows;
    });
    const sent = request(key);
    const call = await onlyCall(key);
    expect(call.settlements).toMatchObject([{ source: 'answer', outcome: null, entries: [] }]);
    await again(key, 'second').expect(409);
  });

  it('is recorded if the connection closes before its last byte is sent', async () => {
    const key = await client();
    const adapter = paying.proxy.app.getHttpAdapter();
    const reply = adapter.reply.bind(adapter);
    jest.spyOn(adapter, 'reply').mockImplementation((response: FastifyReply, ...rest) => {
      if (response.request.method === 'POST') response.raw.socket?.destroy();
      reply(response, ...rest);
    });
    request(key);
    await onlyCall(key);
  });

  it('is recorded if the connection breaks after its last byte is sent', async () => {
    const key = await client();
    const agent = new Agent({ keepAlive: true });
    const isSent = nextReply();
    const sent = request(key, agent);
    await isSent;
    sent.socket?.resetAndDestroy();
    await onlyCall(key);
  });

  it('is not assumed for a caller whose connection breaks after its next request', async () => {
    const key = await client();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connected = once(server(), 'connection') as Promise<[Socket]>;
    const [response] = (await once(request(key, agent), 'response')) as [IncomingMessage];
    const isRead = once(response.resume(), 'end');
    const [socket] = await connected;
    await isRead;
    const isSent = nextReply();
    const headers = { 'X-API-Key': key };
    const next = newRequest(`${paying.proxy.url}/api/v0.1/info/assets`, { agent, headers });
    next.on('error', () => undefined).end();
    await isSent;
    const transaction = jest.spyOn(paying.proxy.app.get(PrismaService), '$transaction');
    const isClosed = new Promise((resolve) => socket.once('close', resolve));
    next.socket?.resetAndDestroy();
    expect(await isClosed).toBe(true); // after an error
    expect(transaction).not.toHaveBeenCalled();
    const { body } = await paying.proxy
      .get(key, `/v1/calls/${String(response.headers['x-call-id'])}`)
      .expect(200);
    expect(body.undelivered).toBe(false);
  });

  it('is not assumed for a caller that reads its answer', async () => {
    const key = await client();
    const { headers } = await again(key, 'first').expect(200);
    const { body } = await paying.proxy.get(key, `/v1/calls/${headers['x-call-id']}`).expect(200);
    expect(body.undelivered).toBe(false);
    await again(key, 'second').expect(200);
  });
});
