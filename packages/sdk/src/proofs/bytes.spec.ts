import fc from 'fast-check';
import { fromBase64, textOf, toBase64 } from './bytes.ts';

describe('base64', () => {
  it('encodes and decodes any bytes like Node', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = toBase64(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64'));
        expect(fromBase64(text)).toEqual(bytes);
      }),
    );
  });

  it('decodes only the canonical encoding', () => {
    const canonical = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
    const characters = fc.constantFrom(...'ABQgwZ09+/=-_ \u00e9');
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 9 }), (text) => {
        const isCanonical = canonical.test(text) && Buffer.from(text, 'base64').toString('base64') === text;
        expect(fromBase64(text) !== undefined).toBe(isCanonical);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('textOf', () => {
  it('decodes UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => expect(textOf(Buffer.from(text))).toBe(text)),
    );
    expect(() => textOf(Uint8Array.of(0xff))).toThrow(URIError);
  });
});
