import { once } from 'node:events';
import { request } from 'node:http';
import { AddressInfo, createServer, Server, Socket } from 'node:net';
import { FakeUpstream, hang, reset, succeed } from '../support/network/fake-upstream';
import { AIRTIME, eventually, PaymentScene, phoneOf, phones, startPaying } from '../support/payments/paying';
import { startProxy } from '../support/processes/proxy';

/** A TCP server with a given behavior. Keeps all received bytes. */
class Wire {
  readonly received: Buffer[] = [];
  port = 0;
  private readonly sockets: Socket[] = [];
  private readonly server: Server;

  private constructor(onConnection: (socket: Socket) => unknown) {
    this.server = createServer((socket) => {
      this.sockets.push(socket);
      socket.on('error', () => undefined).on('data', (chunk) => this.received.push(chunk));
      onConnection(socket);
    });
  }

  static async start(onConnection: (socket: Socket) => unknown): Promise<Wire> {
    const wire = new Wire(onConnection);
    await wire.listen();
    return wire;
  }

  async listen(port = 0): Promise<void> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Refuses connections until it listens again. */
  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('a call without a connection to the upstream', () => {
  let wire: Wire;
  let paying: PaymentScene;
  let onConnection: (socket: Socket) => unknown;
  beforeAll(async () => {
    wire = await Wire.start((socket) => onConnection(socket));
    paying = await startPaying(reaching(`https://127.0.0.1:${wire.port}`));
  });
  afterAll(async () => {
    await paying.close();
    await wire.close();
  });

  const reaching = (upstreamBaseUrl: string) => ({ upstreamBaseUrl, upstreamConnectTimeoutMs: 100 });
  const call = async (proxy = paying.proxy) => {
    const got = await proxy.post(paying.app, '/payouts/airtime', AIRTIME);
    return { got, record: await paying.record(got) };
  };
  const notSent = (failure: string) => ({
    got: {
      status: 503,
      headers: expect.objectContaining({ 'retry-after': '1' }),
      body: expect.objectContaining({ status: 'error', code: 'upstream_unreachable' }),
    },
    record: { outcome: 'not_sent', upstream: { status: null, failure }, response: { body: null } },
  });

  it('is not_sent after a refused connection, and may be retried', async () => {
    await wire.close();
    expect(await call()).toMatchObject(notSent('refused'));
    await wire.listen(wire.port);
  });

  it('is not_sent if the host name does not resolve', async () => {
    const unnamed = await startProxy(reaching(`http://${'a'.repeat(64)}.invalid`), paying.proxy.database);
    expect(await call(unnamed)).toMatchObject(notSent('dns'));
    await unnamed.close();
  });

  it('is not_sent if the port does not speak TLS, and sends it nothing', async () => {
    onConnection = (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect(await call()).toMatchObject(notSent('tls'));
    expect(Buffer.concat(wire.received).toString('latin1')).not.toMatch(/payouts|254712345678|X-API-Key/i);
  });

  it('is not_sent if the TLS handshake is interrupted', async () => {
    onConnection = (socket) => socket.once('data', () => socket.resetAndDestroy());
    expect(await call()).toMatchObject(notSent('not_connected'));
  });

  it('is not_sent without a connection within UPSTREAM_CONNECT_TIMEOUT_MS', async () => {
    onConnection = () => undefined;
    expect(await call()).toMatchObject(notSent('connect_timeout'));
  });
});

describe('a call with a failing connection', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying()));
  afterAll(() => paying.close());
  beforeEach(() => (paying.upstream.received.length = 0));

  it('is unknown and not retried if a persistent connection breaks on arrival', async () => {
    const used = new Set<Socket>();
    paying.upstream.behaviour = (received, response, socket) => {
      const again = used.has(socket);
      used.add(socket);
      return (again ? reset : succeed)(received, response, socket);
    };
    await paying.pay().expect(200);
    const got = await paying.pay().expect(502);
    expect(paying.upstream.received).toHaveLength(2);
    expect(await paying.record(got)).toMatchObject({ outcome: 'unknown', upstream: { failure: 'reset' } });
  });

  it('pays each recipient at most once when connections close between requests at any moment', async () => {
    paying.upstream.behaviour = (received, response, socket) => {
      succeed(received, response, socket);
      const turns = [() => socket.destroy(), () => setImmediate(() => socket.destroy()), () => socket.end()];
      response.on('finish', () => turns[paying.upstream.received.length % turns.length]?.());
    };
    const phoneByCall = new Map<string, string>();
    for (const phone of phones(60))
      phoneByCall.set((await paying.pay(phone)).headers['x-call-id'] ?? '', phone);
    const outcomes = await paying.proxy.database.query(
      'SELECT intent_id, kind FROM outcome WHERE intent_id = ANY ($1)',
      [[...phoneByCall.keys()]],
    );
    expect(outcomes).toHaveLength(60);
    const arrived = paying.upstream.received.map(phoneOf);
    expect(new Set(arrived).size).toBe(arrived.length);
    for (const { intent_id: id, kind: outcome } of outcomes) {
      const phone = phoneByCall.get(id as string);
      if (outcome === 'succeeded') expect(arrived).toContain(phone);
      else expect(['unknown', 'not_sent']).toContain(outcome);
      if (outcome === 'not_sent') expect(arrived).not.toContain(phone);
    }
  });

  it('is completed and recorded after its app disconnects', async () => {
    let release = () => {};
    const arrived = new Promise<void>((resolve) => {
      paying.upstream.behaviour = (...args) => {
        release = () => void succeed(...args);
        resolve();
      };
    });
    const hangingUp = request(`${paying.proxy.url}/api/v0.1/payouts/airtime`, {
      method: 'POST',
      headers: { 'x-api-key': paying.app, 'content-type': 'application/json' },
    }).on('error', () => undefined);
    hangingUp.end(JSON.stringify(AIRTIME));
    await arrived;
    const closed = new Promise((resolve) => hangingUp.once('close', resolve));
    hangingUp.destroy();
    await closed;
    const [open] = await paying.proxy.database.query('SELECT id FROM intent ORDER BY id DESC LIMIT 1');
    release();
    const outcome = () =>
      paying.proxy.database.query('SELECT kind FROM outcome WHERE intent_id = $1', [open?.id]);
    await eventually(async () => (await outcome()).length > 0);
    expect(await outcome()).toEqual([{ kind: 'succeeded' }]);
  });
});

describe('a call past its deadline', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying({ upstreamTimeoutMs: 300, upstreamConnections: 1 })));
  afterAll(() => paying.close());
  beforeEach(() => (paying.upstream.received.length = 0));

  it.each<[string, FakeUpstream['behaviour']]>([
    ['an upstream that never answers', hang],
    [
      'a body that never ends',
      (_request, response) => void response.writeHead(200).write('{"status":"success",'),
    ],
    [
      'a body that comes byte by byte',
      (_request, response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ])('gets 504 outcome_unknown and is listed as in doubt after %s', async (_name, behaviour) => {
    paying.upstream.behaviour = behaviour;
    const got = await paying.pay().expect(504);
    expect(got.body).toMatchObject({ code: 'outcome_unknown', call_id: got.headers['x-call-id'] });
    expect(await paying.record(got)).toMatchObject({
      outcome: 'unknown',
      upstream: { status: null, failure: 'timeout' },
    });
    expect(await paying.listed('unknown')).toContain(got.headers['x-call-id']);
    expect(paying.upstream.received).toHaveLength(1);
  });

  it('is the only one in doubt: queued calls were never admitted', async () => {
    paying.upstream.behaviour = hang;
    const calls = await Promise.all(
      phones(6).map(async (phone) => ({ phone, got: await paying.pay(phone) })),
    );
    const arrived = paying.upstream.received.map(phoneOf);
    expect(arrived.length).toBeGreaterThan(0);
    for (const { phone, got } of calls) {
      const hasArrived = arrived.includes(phone);
      const answer = hasArrived ? [504, 'outcome_unknown'] : [503, 'overloaded'];
      expect([phone, got.status, got.body.code]).toEqual([phone, ...answer]);
      const intents = await paying.proxy.database.query('SELECT FROM intent WHERE id = $1', [
        got.headers['x-call-id'],
      ]);
      expect(intents).toHaveLength(hasArrived ? 1 : 0);
    }
    paying.upstream.behaviour = succeed;
    await paying.pay().expect(200);
    expect(paying.upstream.received).toHaveLength(arrived.length + 1); // and no late arrival
  });
});
