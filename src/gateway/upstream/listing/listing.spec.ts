import { createHash } from 'node:crypto';
import { createServer, RequestListener, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { readText } from '../answers/transactions';
import { KeyRemover } from '../transport/key-remover';
import { streamListing } from './listing';

const KEY = 'a-key-that-must-not-be-seen';
const BODY = JSON.stringify({
  status: 'success',
  data: [{ chiRef: 'a', reference: `key ${KEY}` }, { chiRef: 'b' }],
});

describe('streamListing', () => {
  let server: Server;
  let pool: Pool;
  let listener: RequestListener;

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => listener(request, response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterAll(async () => {
    await pool.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const list = async (
    answer: RequestListener,
    {
      timeoutMs = 60_000,
      signal,
      onBatch,
    }: { timeoutMs?: number; signal?: AbortSignal; onBatch?: () => Promise<void> } = {},
  ) => {
    listener = answer;
    const elements: unknown[] = [];
    const take = async (batch: unknown[]) => {
      elements.push(...batch);
      await onBatch?.();
    };
    const request = {
      path: '/x',
      method: 'POST' as const,
      headers: {},
      body: Buffer.from('{}'),
      timeoutMs,
      signal,
    };
    return { elements, ...(await streamListing(pool, request, new KeyRemover(KEY), take)) };
  };

  it('passes on each element without our key, and reports the number and the hash of the bytes', async () => {
    expect(await list((_request, response) => response.end(BODY))).toEqual({
      failure: null,
      httpStatus: 200,
      bytes: BODY.length,
      sha256: createHash('sha256').update(BODY).digest(),
      elements: [{ chiRef: 'a', reference: 'key [key removed]' }, { chiRef: 'b' }],
    });
  });

  it.each([
    '{"status":"success","data":[{"chiRef":"a","status":"failed","status":"paid"}]}',
    '{"status":"error","status":"success","data":[{"chiRef":"a"}]}',
  ])('reports %s as unreadable, because parsers differ on duplicate names', async (body) => {
    const { failure } = await list((_request, response) => response.end(body));
    expect(failure).toBe('unreadable');
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['BR', brotliCompressSync],
    ['gzip, identity, x-gzip', (text: string) => gzipSync(gzipSync(text))],
  ])('decodes %s although it requested none, and hashes the bytes as received', async (coding, encode) => {
    const sent = encode(BODY);
    const { elements, ...read } = await list((_request, response) => {
      response.writeHead(200, { 'content-encoding': coding });
      response.write(sent.subarray(0, 9));
      response.end(sent.subarray(9));
    });
    expect(elements).toHaveLength(2);
    const sha256 = createHash('sha256').update(sent).digest();
    expect(read).toEqual({ failure: null, httpStatus: 200, bytes: sent.length, sha256 });
  });

  it.each([
    ['gzip', Buffer.from(BODY)],
    ['gzip', gzipSync(BODY).subarray(0, -9)],
    ['br', brotliCompressSync(BODY).subarray(0, -9)],
    ['br', Buffer.from(BODY)],
    ['zstd', Buffer.from(BODY)],
    ['gzip', gzipSync(Buffer.alloc(20_000_000, ' '))],
  ])('reports bytes that are not in their coding %s as unreadable', async (coding, sent) => {
    const { failure } = await list((_request, response) => {
      response.writeHead(200, { 'content-encoding': coding }).end(sent);
    });
    expect(failure).toBe('unreadable');
  });

  it('keeps all digits of references, beyond the precision of a double', async () => {
    const body = '{"status":"success","data":[{"chiRef":12345678901234567},{"chiRef":12345678901234568}]}';
    const { elements } = await list((_request, response) => response.end(body));
    expect(elements.map((one) => readText((one as { chiRef: unknown }).chiRef))).toEqual([
      '12345678901234567',
      '12345678901234568',
    ]);
  });

  it('reports a reset for a truncated listing and for a missing answer', async () => {
    const half = await list((_request, response) => {
      response.writeHead(200, { 'content-length': BODY.length });
      response.write(BODY.slice(0, 40), () => response.destroy());
    });
    expect(half).toMatchObject({ failure: 'reset', httpStatus: 200, bytes: 40, sha256: null, elements: [] });
    const none = await list((request) => request.socket.destroy());
    expect(none).toMatchObject({ failure: 'reset', httpStatus: null, bytes: 0 });
  });

  it('ends at its deadline and when aborted', async () => {
    expect(await list(() => undefined, { timeoutMs: 50 })).toMatchObject({
      failure: 'timeout',
      httpStatus: null,
    });
    const stop = new AbortController();
    const stopped = list(() => stop.abort(), { signal: stop.signal });
    expect(await stopped).toMatchObject({ failure: 'stopped' });
  });

  it('throws the error of its consumer, and stops reading', async () => {
    const broken = () => Promise.reject(new Error('the disk is full'));
    await expect(list((_request, response) => response.end(BODY), { onBatch: broken })).rejects.toThrow(
      'the disk is full',
    );
  });

  it('reads no more bytes while a batch is being processed', async () => {
    const elements = Array.from({ length: 2_000 }, (_, index) => ({
      chiRef: `${index}${'x'.repeat(1_000)}`,
    }));
    let begun = 0;
    let atWork = 0;
    const slowly = async () => {
      expect((atWork += 1)).toBe(1);
      begun += 1;
      await new Promise((resolve) => setTimeout(resolve, 2));
      atWork -= 1;
    };
    const body = JSON.stringify({ status: 'success', data: elements });
    const listing = await list((_request, response) => response.end(body), { onBatch: slowly });
    expect(listing).toMatchObject({ failure: null, bytes: body.length });
    expect(listing.elements).toEqual(elements);
    expect(begun).toBeGreaterThan(10);
  });
});
