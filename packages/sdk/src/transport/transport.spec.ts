import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PayoutProxy } from '../client.ts';
import { NetworkError } from '../errors.ts';

const BODY = { credits: [{ email: 'ada@example.com', valueInUSD: '1' }] };
const pay = (baseUrl: string, send = fetch) =>
  new PayoutProxy({ baseUrl, apiKey: 'key', retries: { most: 1, firstMs: 1 }, fetch: send }).payouts
    .credit(BODY)
    .settled();

describe('the base URL', () => {
  it.each([
    '',
    'payouts.example.com',
    'localhost:3000',
    '/api',
    'htps://payouts.example.com',
    'https:/payouts.example.com',
    'https://',
    'https://https://payouts.example.com',
    'https://payouts.example.com?a=1',
    'https://a b.example',
    'https://user@payouts.example.com',
    'https://payouts.example.com/#x',
    'file:///tmp',
    undefined,
    null,
    17,
  ])('must be the address of a proxy: %j', (baseUrl) => {
    expect(() => new PayoutProxy({ baseUrl: baseUrl as string, apiKey: 'key' })).toThrow('"baseUrl" must be');
  });

  it.each([
    ['https://payouts.example.com', 'https://payouts.example.com'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['https://bücher.example/payouts//', 'https://bücher.example/payouts'],
  ])('may have a port and a path: %s', async (baseUrl, normalized) => {
    const fetched = jest.fn().mockResolvedValue(new Response('{}', { headers: { 'X-Call-Id': 'id' } }));
    await new PayoutProxy({ baseUrl, apiKey: 'key', fetch: fetched }).limits();
    expect(fetched).toHaveBeenCalledWith(`${normalized}/v1/limits`, expect.anything());
  });
});

describe('a failure before the first byte', () => {
  it.each([
    ['a closed port', 'http://127.0.0.1:65534', /ECONNREFUSED/],
    ['a port that fetch blocks', 'http://127.0.0.1:6000', /bad port/],
    ['an invalid port', 'http://127.0.0.1:99999', /Invalid URL/],
    ['a name without an address', 'http://nowhere.invalid', /nowhere\.invalid/],
  ])('is reported with its cause: %s', async (_case, baseUrl, cause) => {
    const result = await pay(baseUrl);
    expect(result).toMatchObject({ status: 'not_sent', settled: true, error: { maySent: false } });
    expect((result as { error: NetworkError }).error.message).toMatch(cause);
  });

  const fault = (cause: object) => () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('the cause'), cause) }));
  it.each([
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'EHOSTUNREACH',
    'EAI_AGAIN',
  ])('has the code %s', async (code) => {
    const result = await pay('https://payouts.example.com', fault({ code }));
    expect(result).toMatchObject({
      status: 'not_sent',
      error: { message: expect.stringContaining('the cause') },
    });
  });

  it.each<[string, object, 'not_sent' | 'unknown']>([
    ['a time-out of the connection', { code: 'ETIMEDOUT', syscall: 'connect' }, 'not_sent'],
    ['a reset of the connection', { code: 'ECONNRESET', syscall: 'read' }, 'unknown'],
    ['a time-out of the answer', { code: 'ETIMEDOUT', syscall: 'read' }, 'unknown'],
  ])('differs from a later one: %s', async (_case, cause, status) => {
    const client = new PayoutProxy({
      baseUrl: 'https://payouts.example.com',
      apiKey: 'key',
      retries: { most: 0 },
      fetch: fault(cause),
    });
    expect(await client.payouts.credit(BODY).send()).toMatchObject({ status });
  });

  it('requires that no address of several was reached', async () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' });
    const failing = (...errors: Error[]) =>
      Promise.reject(new TypeError('fetch failed', { cause: new AggregateError(errors, 'all failed') }));
    const send = (...errors: Error[]) =>
      new PayoutProxy({
        baseUrl: 'https://payouts.example.com',
        apiKey: 'key',
        retries: { most: 0 },
        fetch: () => failing(...errors),
      }).payouts
        .credit(BODY)
        .send();
    expect(await send(refused, refused)).toMatchObject({ status: 'not_sent' });
    expect(await send(refused, reset)).toMatchObject({ status: 'unknown' });
  });

  it('excludes a connection that ends after the request', async () => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = new PayoutProxy({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: 'key',
      retries: { most: 0 },
    });
    const result = await client.payouts.credit(BODY).send();
    expect(result).toMatchObject({ status: 'unknown', settled: false, error: { maySent: true } });
    server.close();
  });
});
