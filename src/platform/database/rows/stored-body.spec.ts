import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { fromStored, readableIn, toStored } from './stored-body';

describe('a stored body', () => {
  it('reads as the bytes that were stored, of any size and content', () => {
    const bytes = fc.uint8Array({ maxLength: 100 }).map((part) => Buffer.from(part));
    fc.assert(
      fc.property(bytes, fc.integer({ min: 0, max: 2_000 }), (part, times) => {
        const body = Buffer.concat(Array.from({ length: times }, () => part));
        expect(fromStored(toStored(body)).equals(body)).toBe(true);
      }),
    );
  });

  it('is compressed only if it is large and becomes shorter', () => {
    const codingOf = (body: Buffer) => toStored(body).coding;
    expect(codingOf(Buffer.alloc(8_191))).toBeNull();
    expect(codingOf(Buffer.alloc(8_192))).toBe('br');
    expect(codingOf(randomBytes(100_000))).toBeNull();
  });

  it('is unreadable once its bytes were changed to bytes without meaning', () => {
    expect(readableIn({ body: Buffer.from('changed'), coding: 'br' })).toBeNull();
    expect(readableIn({ body: Buffer.from('changed'), coding: null })?.toString()).toBe('changed');
  });
});
