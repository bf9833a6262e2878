import { FastifyRequest } from 'fastify';
import { ownAddressOf, ownOriginReader } from './origins';

const PUBLIC = ['https://payouts.example.com', 'https://pay.example.org:8443'];

interface RequestOptions {
  peer?: string;
  target?: string;
  route?: string;
}

/** Returns the origin of a request that arrives at 10.0.0.5:3000. */
function originOf(
  headers: Record<string, string>,
  publicUrls: string[] = [],
  { peer = '203.0.113.9', target = '/v1/limits', route = target }: RequestOptions = {},
): string | undefined {
  const socket = { remoteAddress: peer, localAddress: '::ffff:10.0.0.5', localPort: 3000 };
  const request = { headers, originalUrl: target, routeOptions: { url: route }, socket };
  return ownOriginReader({ publicUrls, trustedProxies: ['127.0.0.1', '10.1.0.0/16'] })(
    request as unknown as FastifyRequest,
  );
}

describe('ownOriginReader', () => {
  it.each([
    ['payouts.example.com', PUBLIC[0]],
    ['PAYOUTS.example.com:443', PUBLIC[0]],
    ['pay.example.org:8443', PUBLIC[1]],
    ['evil.example', undefined],
    ['pay.example.org', undefined],
    ['payouts.example.com.', undefined],
    ['payouts.example.com@evil.example', undefined],
    ['evil.example/payouts.example.com', undefined],
    ['evil@payouts.example.com', undefined],
    ['payouts.example.com, evil.example', undefined],
    ['localhost:3000', undefined],
    ['10.0.0.5:3000', undefined],
    ['', undefined],
  ])('takes Host %s as %s with PUBLIC_URL', (host, origin) => {
    expect(originOf({ host }, PUBLIC)).toBe(origin);
  });

  it('ignores X-Forwarded-Host and X-Forwarded-Proto from a caller', () => {
    const forged = { 'x-forwarded-host': 'payouts.example.com', 'x-forwarded-proto': 'https' };
    expect(originOf({ host: 'evil.example', ...forged }, PUBLIC)).toBeUndefined();
    expect(originOf({ host: 'localhost:3000', ...forged })).toBe('http://localhost:3000');
  });

  it('takes the scheme from PUBLIC_URL despite X-Forwarded-Proto', () => {
    const headers = { host: 'payouts.example.com', 'x-forwarded-proto': 'http' };
    expect(originOf(headers, PUBLIC, { peer: '127.0.0.1' })).toBe(PUBLIC[0]);
  });

  it('prefers the host of an absolute-form target to Host', () => {
    const target = 'http://evil.example/v1/limits';
    expect(originOf({ host: 'payouts.example.com' }, PUBLIC, { target })).toBeUndefined();
    const request = { call: { ownOrigin: PUBLIC[0] }, originalUrl: target } as FastifyRequest;
    expect(ownAddressOf(request)).toBe('https://payouts.example.com/v1/limits');
  });

  it('answers probes under any host name', () => {
    for (const target of ['/livez', '/readyz', '/metrics'])
      expect(originOf({ host: '10.0.0.5:3000' }, PUBLIC, { target })).toBe(PUBLIC[0]);
  });

  it.each([
    ['localhost:3000', 'http://localhost:3000'],
    ['app.localhost', 'http://app.localhost'],
    ['127.0.0.9:3000', 'http://127.0.0.9:3000'],
    ['[::1]:3000', 'http://[::1]:3000'],
    ['10.0.0.5:3000', 'http://10.0.0.5:3000'],
    ['evil.example', 'http://localhost:3000'],
    ['10.0.0.6:3000', 'http://localhost:3000'],
    ['127.0.0.1.evil.example', 'http://localhost:3000'],
  ])('takes Host %s as %s without PUBLIC_URL', (host, origin) => {
    expect(originOf({ host })).toBe(origin);
  });

  // A CDN (10.1.0.1) in front of an ingress (127.0.0.1).
  it.each([
    ['https,http', undefined, 'https'],
    ['https, http', '203.0.113.9, 10.1.0.1', 'https'],
    ['http,https', '203.0.113.9, 10.1.0.1', 'http'],
    ['http,https,http', '198.51.100.1, 203.0.113.9, 10.1.0.1', 'https'],
    ['https,http', '203.0.113.9', 'http'],
    ['https,http', '10.1.0.1, 203.0.113.9', 'http'],
    ['gopher', undefined, 'http'],
  ])('reads %s with X-Forwarded-For %s as %s', (proto, forwardedFor, protocol) => {
    const headers = { host: 'p.example.com', 'x-forwarded-proto': proto };
    const sent = forwardedFor === undefined ? headers : { ...headers, 'x-forwarded-for': forwardedFor };
    expect(originOf(sent, [], { peer: '127.0.0.1' })).toBe(`${protocol}://p.example.com`);
  });

  it('reads X-Forwarded-Host at the outermost trusted proxy', () => {
    const headers = {
      host: 'internal',
      'x-forwarded-host': 'evil.example, payouts.example.com, ingress',
      'x-forwarded-for': '198.51.100.1, 203.0.113.9, 10.1.0.1',
    };
    expect(originOf(headers, PUBLIC, { peer: '127.0.0.1' })).toBe(PUBLIC[0]);
  });
});
