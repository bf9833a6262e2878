import { connect } from 'node:net';
import { Logger } from 'nestjs-pino';
import { airtimeItem } from '../support/http/interface';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { eventually } from '../support/payments/paying';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** An error in either form. */
interface ErrorBody {
  status: number | 'error';
  code: string;
  action: string;
  call_id: string;
}

interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: ErrorBody;
  text: string;
}

describe('an unreadable request', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let key: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    ({ key } = await proxy.client('app', 'pay', 'write', 'read', 'account'));
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  /** Sends raw bytes, and reads until the connection ends. */
  function exchange(...parts: string[]): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1', () => {
        for (const part of parts) socket.write(part);
      });
      let text = '';
      socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
      socket.on('error', reject);
      socket.on('close', () => {
        const [head = '', rest = ''] = text.split('\r\n\r\n');
        const [statusLine = '', ...lines] = head.split('\r\n');
        const pairs = lines.map((line) =>
          line
            .toLowerCase()
            .split(/: (.*)/s)
            .slice(0, 2),
        );
        const headers = Object.fromEntries(pairs as [string, string][]);
        const length = Number(headers['content-length']);
        if (Buffer.byteLength(rest) < length) return reject(new Error(`half: ${text}`));
        const body = JSON.parse(rest.slice(0, length)) as ErrorBody;
        resolve({ status: Number(/^HTTP\/1\.1 (\d+) \w/.exec(statusLine)?.[1]), headers, body, text });
      });
    });
  }
  const post = (path: string, ...headers: string[]) =>
    [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      'Content-Type: application/json',
      `X-API-Key: ${key}`,
      ...headers,
      '',
      '',
    ].join('\r\n');
  const problemCount = async (code: string) => {
    const { text } = await supertest(proxy.url).get('/metrics').expect(200);
    const line = new RegExp(`payout_proxy_problems_total\\{code="${code}"\\} (\\d+)`);
    return Number(line.exec(text)?.[1] ?? 0);
  };
  const refusalOf = async (callId: string | undefined) =>
    (await proxy.database.query('SELECT status, code FROM refusal WHERE id = $1', [callId]))[0];

  it.each([
    ['a malformed line', 'GARBAGE\r\n\r\n', 400, 'invalid_request', 'problem+json'],
    [
      'two lengths',
      'POST /api/v0.1/send HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'invalid_request',
      'json',
    ],
    [
      'long headers',
      `GET /api/v0.1/wallets/list HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
      'json',
    ],
    [
      'long headers elsewhere',
      `GET /v1/calls HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
      'problem+json',
    ],
    [
      'no Host',
      'GET /api/v0.1/wallets/list HTTP/1.1\r\nConnection: close\r\n\r\n',
      400,
      'invalid_request',
      'json',
    ],
    [
      'another expectation',
      'GET /v1/calls HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nConnection: close\r\n\r\n',
      417,
      'expectation_not_met',
      'problem+json',
    ],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'not_found', 'problem+json'],
  ])(
    'returns the documented error, and is logged and counted: %s',
    async (_fault, bytes, status, code, type) => {
      const logged = jest.spyOn(proxy.app.get(Logger), 'log');
      const before = await problemCount(code);
      const answer = await exchange(bytes);
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({
        'content-type': `application/${type}; charset=utf-8`,
        connection: 'close',
        'x-request-id': expect.any(String),
        'x-call-id': answer.body.call_id,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(answer.body).toMatchObject({ code, action: 'fix_request', error: expect.any(String) });
      expect(answer.body.status).toBe(type === 'json' ? 'error' : status);
      expect(await problemCount(code)).toBe(before + 1);
      expect(JSON.stringify(logged.mock.calls)).toContain(answer.body.call_id);
    },
  );

  it('is recorded for a known caller if its body breaks off', async () => {
    const { status, body } = await exchange(
      post('/api/v0.1/payouts/airtime', 'Transfer-Encoding: chunked'),
      'zz\r\n',
    );
    expect([status, body.status, body.code]).toEqual([400, 'error', 'invalid_request']);
    await eventually(async () => (await refusalOf(body.call_id)) !== undefined);
    expect(await refusalOf(body.call_id)).toEqual({ status: 400, code: 'invalid_request' });
  });

  it('gets 408 if it is incomplete at the timeout', async () => {
    const server = proxy.app.getHttpServer();
    server.once('request', ({ socket }: { socket: unknown }) =>
      setImmediate(() => server.emit('clientError', { code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket)),
    );
    const { status, body } = await exchange(
      post('/api/v0.1/payouts/airtime', 'Content-Length: 500'),
      '{"airtimes":',
    );
    expect([status, body.status, body.code, body.action]).toEqual([
      408,
      'error',
      'request_timeout',
      'retry_same_key',
    ]);
  });

  it('does not replace the response to an earlier payout', async () => {
    const paid = JSON.stringify({ airtimes: [airtimeItem()] });
    const { text } = await exchange(
      post('/api/v0.1/payouts/airtime', `Content-Length: ${paid.length}`),
      `${paid}and more`,
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(upstream.received).toHaveLength(1);
  });
});
