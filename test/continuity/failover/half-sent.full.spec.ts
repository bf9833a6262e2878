import { AddressInfo, connect, Socket } from 'node:net';
import Fastify, { FastifyInstance } from 'fastify';
import { boundIncompleteRequests } from '../../../src/http/connections/incomplete-requests';
import { within } from '../../../src/platform/config/network/address-block';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { startProxy } from '../../support/processes/proxy';

const HALF = 'POST /api/v0.1/payouts/airtime HTTP/1.1\r\nHost: x\r\nX-';
const BODY = { airtimes: [{ phoneNumber: '+254712345678', countryToSend: 'Kenya', valueInUSD: 1 }] };

/** Connections to a port of this machine. They end with `close`. */
class Connections {
  readonly open = new Set<Socket>();
  heard = '';

  constructor(private readonly port: number) {}

  send(text: string, localAddress = '127.0.0.1'): void {
    const socket = connect({ port: this.port, host: '127.0.0.1', localAddress });
    this.open.add(socket);
    socket.on('data', (data) => (this.heard += data.toString()));
    socket.on('error', () => undefined).on('close', () => this.open.delete(socket));
    socket.write(text);
  }

  close(): void {
    for (const socket of this.open) socket.destroy();
  }
}

describe('a flood of incomplete request heads', () => {
  it('is closed, and payments continue', async () => {
    const upstream = await FakeUpstream.start();
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    const { key } = await proxy.client('app', 'pay');
    const server = proxy.app.getHttpServer();
    server.headersTimeout = 600_000; // it is 10 s; a slow machine must not reach it
    const flood = new Connections(Number(new URL(proxy.url).port));
    for (let n = 0; n < 2_500; n++) flood.send(HALF);
    await eventually(() => flood.open.size === 2_048);
    await proxy.post(key, '/payouts/airtime', BODY).expect(200);
    // The connection of the payment counts, too, unless its head arrives at once.
    expect([2_047, 2_048]).toContain(flood.open.size);
    server.headersTimeout = 1;
    await eventually(() => flood.open.size === 0);
    await proxy.close();
    await upstream.stop();
  });
});

describe('idle connections', () => {
  let server: FastifyInstance;
  let flood: Connections;
  const start = async (perNetwork: number, inAll: number, ...trusted: string[]) => {
    server = Fastify();
    boundIncompleteRequests(server, within(trusted), { perNetwork, inAll });
    server.post('/refused', { onRequest: () => Promise.reject(new Error('no')) }, () => 'never');
    server.get('/', () => 'hello');
    await server.listen({ host: '127.0.0.1', port: 0 });
    flood = new Connections((server.server.address() as AddressInfo).port);
  };
  const accepted = () =>
    new Promise<number>((resolve) => server.server.getConnections((_error, n) => resolve(n)));
  afterEach(async () => {
    flood.close();
    await server.close();
  });

  it('are limited per network, oldest first, and leave room for others', async () => {
    await start(3, 100);
    const [first] = [...(flood.send('GET'), flood.open)];
    for (let n = 0; n < 9; n++) flood.send('GET');
    flood.send('GET', '127.0.0.2');
    await eventually(() => flood.open.size === 4);
    expect(flood.open.has(first as Socket)).toBe(false);
    expect((await fetch(`http://127.0.0.1:${(server.server.address() as AddressInfo).port}/`)).status).toBe(
      200,
    );
  });

  it('are limited in total', async () => {
    await start(3, 5);
    for (let n = 0; n < 12; n++) flood.send('GET', `127.0.0.${2 + (n % 4)}`);
    await eventually(() => flood.open.size === 5);
  });

  it('are not limited per network behind a reverse proxy', async () => {
    await start(3, 5, '127.0.0.1');
    for (let n = 0; n < 5; n++) flood.send('GET');
    await eventually(async () => (await accepted()) === 5);
    flood.send('GET');
    await eventually(() => flood.open.size === 5);
  });

  it('stop counting once their request is complete', async () => {
    await start(2, 100);
    for (let n = 0; n < 9; n++) {
      flood.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => flood.heard.split('hello').length === n + 2);
    }
    for (let n = 0; n < 5; n++) flood.send('GET');
    await eventually(() => flood.open.size === 11);
  });

  it('count again if the response precedes the end of the body', async () => {
    await start(2, 100);
    for (let n = 0; n < 9; n++) flood.send('POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx');
    await eventually(() => flood.heard.split('500').length >= 10 && flood.open.size === 2);
  });
});
