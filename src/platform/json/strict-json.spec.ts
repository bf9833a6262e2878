import fc from 'fast-check';
import { readStrictJson } from './strict-json';

describe('readStrictJson', () => {
  it('reads any JSON that names each member once', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (json) => {
        expect(readStrictJson(json)).toEqual(JSON.parse(json));
        expect(readStrictJson(Buffer.from(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  it('takes no text for structure', () => {
    expect(readStrictJson('{"a":"{\\"a\\":1,\\"a\\":2}","b":[{"a":1},{"a":1}]}')).toMatchObject({
      b: [{}, {}],
    });
  });

  it.each([
    '{"verdict":"deny","verdict":"allow"}',
    '{"verdict":"deny","\\u0076erdict":"allow"}',
    '{"a":{"b":1,"b":1}}',
    '[{"__proto__":1,"__proto__":2}]',
    '{"verdict":"allow"',
  ])('throws for %s', (json) => {
    expect(() => readStrictJson(json)).toThrow(SyntaxError);
  });
});
