import { ServerResponse } from 'node:http';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** Maximum length of a body for a request without a key. Longer bodies are from before. */
const FRESH_BYTES = 4_096;

describe('a body served without a key', () => {
  let proxy: TestProxy;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
  });
  afterAll(() => proxy.close());

  /** Buffer of a sent response. */
  async function bodyOf(path: string, headers: Record<string, string> = {}) {
    const end = jest.spyOn(ServerResponse.prototype, 'end');
    const response = await fetch(`${proxy.url}${path}`, { headers });
    const text = await response.text();
    const [sent] = end.mock.calls
      .map(([chunk]) => chunk as unknown)
      .filter((chunk) => chunk instanceof Buffer);
    end.mockRestore();
    return { response, text, sent: sent as Buffer | undefined };
  }

  it.each([
    '/openapi.json',
    '/openapi.staff.json',
    '/docs',
    '/docs/swagger-ui-bundle.js',
    '/docs/swagger-ui-standalone-preset.js',
    '/docs/swagger-ui.css',
  ])('is one shared buffer, compressed once: %s', async (path) => {
    for (const encoding of ['gzip', 'identity']) {
      const headers = { 'accept-encoding': encoding };
      const [first, second] = [await bodyOf(path, headers), await bodyOf(path, headers)];
      expect(first.response.status).toBe(200);
      expect(first.response.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
      expect(first.sent).toBeInstanceOf(Buffer);
      expect(second.sent).toBe(first.sent);
      expect(second.text).toBe(first.text);
    }
  });

  it.each(['/livez', '/readyz', '/metrics', '/console', '/docs/absent.js', '/openapi.yaml', '/absent'])(
    'is short without compression: %s',
    async (path) => {
      const { text } = await bodyOf(path);
      expect([path, text.length < FRESH_BYTES || path === '/metrics']).toEqual([path, true]);
    },
  );

  it('has a strong ETag for each encoding, which supports conditional requests', async () => {
    const zipped = await bodyOf('/openapi.json', { 'accept-encoding': 'gzip' });
    const plain = await bodyOf('/openapi.json', { 'accept-encoding': 'identity' });
    const [zippedTag, plainTag] = [zipped, plain].map(({ response }) => response.headers.get('etag') ?? '');
    expect(zippedTag).toMatch(/^"[\w-]{43}"$/);
    expect(zippedTag).not.toBe(plainTag);
    expect(zipped.text).toBe(plain.text);
    expect(zipped.response.headers.get('vary')).toContain('accept-encoding');
    for (const known of [zippedTag!, `W/${zippedTag}`, `"other", ${zippedTag}`, '*']) {
      const again = await bodyOf('/openapi.json', { 'accept-encoding': 'gzip', 'if-none-match': known });
      expect([known, again.response.status, again.text, again.response.headers.get('etag')]).toEqual([
        known,
        304,
        '',
        zippedTag,
      ]);
    }
    const changed = await bodyOf('/openapi.json', { 'accept-encoding': 'gzip', 'if-none-match': '"other"' });
    expect(changed.response.status).toBe(200);
  });

  it.each(['', 'br', 'gzip;q=0', 'identity'])(
    'is not compressed for Accept-Encoding: %s',
    async (accepted) => {
      const { response } = await bodyOf('/openapi.json', { 'accept-encoding': accepted });
      expect([response.status, response.headers.get('content-encoding')]).toEqual([200, null]);
    },
  );
});
