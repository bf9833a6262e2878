import { connect } from 'node:net';
import { Logger } from 'nestjs-pino';
import { airtimeItem } from '../support/http/interface';
import supertest from '../support/http/supertest';
import { FakeUpstream } from '../support/network/fake-upstream';
import { eventually } from '../support/payments/paying';
import { startProxy, TestProxy } from '../support/processes/proxy';

/** Addresses that lead nowhere, or that the router itself refuses. */
describe('an unroutable address', () => {
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

  it.each(['/nope', '/api/v0.1/%zz', '/v1/audit/calls/%', '/v1/nope', '/api/v0.1/payouts/nope'])(
    'returns 404 for %s, with a call ID and without the address',
    async (path) => {
      const { body, headers } = await supertest(proxy.url).get(path).set('X-API-Key', key).expect(404);
      expect(body).toMatchObject({ code: 'not_found', call_id: headers['x-call-id'] });
      expect(headers).toMatchObject({
        'x-request-id': expect.any(String),
        'server-timing': expect.stringMatching(/^total;dur=\d+\.\d\d$/),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(JSON.stringify(body)).not.toContain(path);
    },
  );

  it.each([
    ['get', '/api/v2/wallets/list'],
    ['get', '/api/v0.1/%zz'],
  ] as const)(
    'returns the interface envelope for %s %s, like everything below /api/',
    async (method, path) => {
      const { body, type } = await supertest(proxy.url)[method](path).set('X-API-Key', key).expect(404);
      expect(type).toBe('application/json');
      expect(body).toMatchObject({ status: 'error', code: 'not_found', action: 'fix_request' });
      await supertest(proxy.url)[method](path).expect(401);
    },
  );

  it.each(['/nope', '/v1/nope', '/%zz', `/v1/calls/${'x'.repeat(2_000)}`])(
    'returns problem details for %s',
    async (path) => {
      const { body, type } = await supertest(proxy.url).get(path).set('X-API-Key', key).expect(404);
      expect(type).toBe('application/problem+json');
      expect(body).toMatchObject({
        status: 404,
        code: 'not_found',
        action: 'fix_request',
        error: expect.any(String),
      });
    },
  );

  it('returns 404 for an ID of any length', async () => {
    const { body } = await proxy.get(key, `/v1/calls/${'x'.repeat(500)}`).expect(404);
    expect(body.code).toBe('call_not_found');
  });

  describe('an unsupported method', () => {
    it.each([
      ['GET', '/api/v0.1/payouts/airtime', 'POST'],
      ['PUT', '/api/v0.1/payouts/airtime', 'POST'],
      ['DELETE', '/api/v0.1/p%61youts/airtime?a=b', 'POST'],
      ['OPTIONS', '/api/v0.1/payouts/airtime', 'POST'],
      ['HEAD', '/api/v0.1/payouts/airtime', 'POST'],
      ['HEAD', '/api/v0.1/wallets/list', 'GET, POST'],
      ['PURGE', '/api/v0.1/info/assets', 'GET'],
      ['POST', '/v1/calls', 'GET'],
      ['PATCH', '/v1/calls/019aaaaa-0000-7000-8000-000000000000', 'GET'],
      ['GET', '/v1/preview/payouts/airtime', 'POST'],
      ['POST', '/livez', 'GET'],
    ])('returns 405 for %s %s, which lists %s, with or without a key', async (method, path, allow) => {
      for (const headers of [{ 'X-API-Key': key }, {}]) {
        const answered = await fetch(proxy.url + path, { method, headers });
        expect([answered.status, answered.headers.get('allow')]).toEqual([405, allow]);
        if (method === 'HEAD') continue;
        const body = {
          code: 'method_not_allowed',
          action: 'fix_request',
          call_id: answered.headers.get('x-call-id'),
        };
        expect(await answered.json()).toMatchObject(body);
      }
      expect(upstream.received).toEqual([]);
    });

    it('returns 405 for every route of the document', async () => {
      const { body } = await supertest(proxy.url).get('/openapi.json').expect(200);
      for (const [path, item] of Object.entries((body as { paths: Record<string, object> }).paths)) {
        const answered = await fetch(proxy.url + path.replace(/[{}]/g, ''), { method: 'PUT' });
        const allowed = answered.headers.get('allow')?.split(', ').sort();
        const methods = Object.keys(item).filter((name) =>
          ['get', 'post', 'patch', 'delete', 'put'].includes(name),
        );
        if (methods.includes('put')) continue;
        expect([path, answered.status, allowed]).toEqual([
          path,
          405,
          expect.arrayContaining(methods.map((name) => name.toUpperCase())),
        ]);
      }
    });
  });

  describe('an unreadable request', () => {
    /** An error in either form. */
    interface SaidBody {
      status: number | 'error';
      code: string;
      action: string;
      call_id: string;
    }

    /** Sends bytes as they are, and hears all that comes until the connection ends. */
    function talk(
      ...parts: string[]
    ): Promise<{ status: number; headers: Record<string, string>; body: SaidBody; said: string }> {
      return new Promise((resolve, reject) => {
        const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1', () => {
          for (const part of parts) socket.write(part);
        });
        let said = '';
        socket.on('data', (bytes: Buffer) => (said += bytes.toString('latin1')));
        socket.on('error', reject);
        socket.on('close', () => {
          const [head = '', text = ''] = said.split('\r\n\r\n');
          const [status = '', ...lines] = head.split('\r\n');
          const headers: Record<string, string> = Object.fromEntries(
            lines.map(
              (line) =>
                line
                  .toLowerCase()
                  .split(/: (.*)/s)
                  .slice(0, 2) as [string, string],
            ),
          );
          if (Buffer.byteLength(text) < Number(headers['content-length']))
            return reject(new Error(`half: ${said}`));
          const body = JSON.parse(text.slice(0, Number(headers['content-length']))) as SaidBody;
          resolve({ status: Number(/^HTTP\/1\.1 (\d+) \w/.exec(status)?.[1]), headers, body, said });
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
    const counted = async (code: string) => {
      const { text } = await supertest(proxy.url).get('/metrics').expect(200);
      return Number(
        new RegExp(`payout_proxy_problems_total\\{code="${code}"\\} (\\d+)`).exec(text)?.[1] ?? 0,
      );
    };
    const refusalOf = async (callId: string | undefined) =>
      (await proxy.database.query('SELECT status, code FROM refusal WHERE id = $1', [callId]))[0];

    it.each([
      ['a line that is none', 'GARBAGE\r\n\r\n', 400, 'invalid_request', 'problem+json'],
      [
        'two lengths',
        `${'POST /api/v0.1/send HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: ' + 'chunked\r\n\r\n'}`,
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
      'gets the documented error, and is logged and counted: %s',
      async (_what, bytes, status, code, type) => {
        const logged = jest.spyOn(proxy.app.get(Logger), 'log');
        const before = await counted(code);
        const answer = await talk(bytes);
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
        expect(await counted(code)).toBe(before + 1);
        expect(JSON.stringify(logged.mock.calls)).toContain(answer.body.call_id);
      },
    );

    it('is recorded for a known caller if its body breaks off', async () => {
      const { status, body } = await talk(
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
      const { status, body } = await talk(
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
      const { said } = await talk(
        post('/api/v0.1/payouts/airtime', `Content-Length: ${paid.length}`),
        `${paid}and more`,
      );
      expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
      expect(upstream.received).toHaveLength(1);
    });
  });
});
