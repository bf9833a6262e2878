import { once } from 'node:events';
import { Agent, IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { createTestDatabase } from '../support/databases/test-database';
import supertest from '../support/http/supertest';
import { FakeUpstream, succeed } from '../support/network/fake-upstream';
import { AIRTIME, eventually } from '../support/payments/paying';
import { startProxy } from '../support/processes/proxy';

/** An unused connection, and requests that end within their headers and their body. */
const UNFINISHED = [
  '',
  'POST /api/v0.1/payouts/airtime HTTP/1.1\r\nHost: x\r\n',
  'POST /livez HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
];

describe('a stopping proxy', () => {
  it('answers and records a call in flight, and closes its kept-alive connection', async () => {
    const database = await createTestDatabase();
    const upstream = await FakeUpstream.start();
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url }, database);
    const { key } = await proxy.client('app', 'pay');
    const arrived = new Promise<() => void>((resolve) => {
      upstream.behaviour = (...args) => resolve(() => succeed(...args));
    });
    const agent = new Agent({ keepAlive: true });
    const app = request(`${proxy.url}/api/v0.1/payouts/airtime`, {
      agent,
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    });
    app.end(JSON.stringify(AIRTIME));
    const release = await arrived;

    const closed = proxy.close();
    await eventually(() =>
      fetch(`${proxy.url}/livez`).then(
        () => false,
        () => true,
      ),
    ); // new connections are refused
    release();
    const [response] = (await once(app, 'response')) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
    await closed; // without that header, only after Fastify's keep-alive timeout of 72 seconds
    expect(await database.query('SELECT kind FROM outcome')).toEqual([{ kind: 'succeeded' }]);

    agent.destroy();
    await upstream.stop();
    await database.close();
  });

  it('does not wait for connections without a complete request', async () => {
    const proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    const ended: Promise<unknown>[] = [];
    for (const begun of UNFINISHED) {
      const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
      await once(socket, 'connect');
      socket.resume(); // one of them is answered before its body is complete
      socket.on('error', () => undefined).write(begun);
      ended.push(once(socket, 'close'));
    }
    // By now, the server has accepted the other connections, too.
    await supertest(proxy.url).get('/livez').expect(200);
    await proxy.close();
    await Promise.all(ended);
  });
});

describe('readiness', () => {
  it('returns 503 while the database does not respond, and liveness stays 200', async () => {
    const database = await createTestDatabase();
    const proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' }, database);
    await supertest(proxy.url)
      .get('/readyz')
      .expect(200, /"status":"ok"/);
    await database.close();
    const { body } = await supertest(proxy.url).get('/readyz').expect(503);
    expect(body).toMatchObject({ code: 'not_ready', status: 503 });
    await supertest(proxy.url).get('/livez').expect(200, { status: 'ok' });
    await proxy.close();
  });
});
