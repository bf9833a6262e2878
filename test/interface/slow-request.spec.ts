import { AddressInfo, connect, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Fastify, { FastifyRequest } from 'fastify';
import { KeyCallersService } from '../../src/access/callers/key-callers.service';
import { endSlowRequests } from '../../src/http/connections/connections';
import { CallJournal } from '../../src/journal/call-journal';
import { FakeUpstream } from '../support/network/fake-upstream';
import { eventually } from '../support/payments/paying';
import { startProxy } from '../support/processes/proxy';

describe('an incomplete request', () => {
  it('times out, and Node closes its connection', async () => {
    const upstream = await FakeUpstream.start();
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    const { requestTimeout, headersTimeout } = proxy.app.getHttpServer();
    expect([requestTimeout, headersTimeout]).toEqual([3_600_000, 10_000]);
    await proxy.close();
    await upstream.stop();
  });

  it('is rejected without a proxy error when its connection ends', async () => {
    const upstream = await FakeUpstream.start();
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    const { key } = await proxy.client('app', 'pay');
    const identified = jest.spyOn(
      proxy.app.get(KeyCallersService, { strict: false }),
      'identifyForAdmission',
    );
    const refused = jest.spyOn(proxy.app.get(CallJournal, { strict: false }).refusals, 'recordSoon');
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    socket.write(`POST /api/v0.1/payouts/airtime HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`);
    socket.write('Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"airtimes":');
    await eventually(() => identified.mock.results.length === 1);
    await identified.mock.results[0]?.value;
    socket.destroy();
    await eventually(() => refused.mock.results.length === 1);
    await refused.mock.results[0]?.value;
    expect(await proxy.database.query('SELECT status, code, faults FROM refusal')).toEqual([
      {
        status: 400,
        code: 'invalid_request',
        faults: [{ pointer: '', detail: 'the body ended before it was complete' }],
      },
    ]);
    expect(upstream.received).toEqual([]);
    await proxy.close();
    await upstream.stop();
  });

  describe('on a route with a timeout', () => {
    const server = Fastify({ requestTimeout: 60_000 });
    const open = new Set<Socket>();
    beforeAll(async () => {
      endSlowRequests(server, 60);
      server.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload));
      const length = async ({ body }: FastifyRequest) => ({ length: (await text(body as Readable)).length });
      server.post('/file', { config: { takesCsv: true } }, length);
      server.post('/other', length);
      const refuse = () => Promise.reject(Object.assign(new Error('no'), { statusCode: 401 }));
      server.post('/refused', { config: { takesCsv: true }, onRequest: refuse }, length);
      await server.listen({ host: '127.0.0.1', port: 0 });
    });
    afterAll(async () => {
      for (const socket of open) socket.destroy();
      await server.close();
    });

    /** Sends half of a body, and collects the response until the connection is closed. */
    function begin(path: string) {
      const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
      const exchange = { socket, response: '', closed: false };
      open.add(socket);
      socket.on('data', (bytes: Buffer) => (exchange.response += bytes.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => (exchange.closed = true));
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: 8\r\n\r\nhalf`,
      );
      return exchange;
    }

    it('gets a longer timeout on a route for files', async () => {
      const file = begin('/file');
      const other = begin('/other');
      await eventually(() => other.closed);
      expect(other.response).toMatch(/^HTTP\/1.1 408 /);
      expect([file.closed, file.response]).toEqual([false, '']);
      file.socket.write('half');
      await eventually(() => file.response.includes('{"length":8}'));
      const again = begin('/other'); // a completed request has no timeout
      await eventually(() => again.closed);
      expect(file.closed).toBe(false);
    });

    it('gets no longer timeout if the file is rejected', async () => {
      const refused = begin('/refused');
      await eventually(() => refused.response.startsWith('HTTP/1.1 401 '));
      await eventually(() => refused.closed);
    });
  });
});
