import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { decoded } from './content-coding';

const TEXT = Buffer.from('{"status":"success"}'.repeat(100));

describe('decoded', () => {
  it.each<[coding: string | null, sent: Buffer]>([
    [null, TEXT],
    ['identity', TEXT],
    ['gzip', gzipSync(TEXT)],
    ['X-GZIP', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['br, gzip', gzipSync(brotliCompressSync(TEXT))],
  ])('returns the body of the coding %s', async (coding, sent) => {
    expect(await decoded(sent, coding, TEXT.length)).toEqual(TEXT);
  });

  it.each<[coding: string, sent: Buffer]>([
    ['gzip', TEXT],
    ['gzip', gzipSync(TEXT).subarray(0, -9)],
    ['gzip', Buffer.alloc(0)],
    ['br', TEXT],
    ['zstd', TEXT],
    ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(TEXT)))],
  ])('returns undefined for a body that is not in its coding %s', async (coding, sent) => {
    expect(await decoded(sent, coding, 1_000_000)).toBeUndefined();
  });

  it('stops at the size limit, so it decodes no bomb', async () => {
    expect(await decoded(gzipSync(TEXT), 'gzip', TEXT.length - 1)).toBeUndefined();
    const bomb = gzipSync(gzipSync(Buffer.alloc(200_000_000)));
    expect(bomb.length).toBeLessThan(2_000);
    expect(await decoded(bomb, 'gzip, gzip', 1_000_000)).toBeUndefined();
  });
});
