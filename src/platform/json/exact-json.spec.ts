import fc from 'fast-check';
import { readExactJson, writeExactJson } from './exact-json';

describe('readExactJson', () => {
  it('keeps the digits of each whole number, wherever it stands', () => {
    const integer = fc.oneof(
      fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
      fc.bigInt({ min: -10n, max: 10n }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), integer)), fc.nat(2), (members, indent) => {
        const space = ' '.repeat(indent);
        const list = members.map(
          ([name, number], at) => `[${JSON.stringify(name)},${at},${space}${number}${space}]`,
        );
        const read = readExactJson(`{"data":[${list.join(`${space},`)}]}`) as { data: unknown[][] };
        expect(read.data.map(([name, , number]) => [name, String(number)])).toEqual(
          members.map(([name, number]) => [name, String(number)]),
        );
      }),
    );
  });

  it('reads any other JSON like JSON.parse, and writes it back', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (json) => {
        const text = JSON.stringify([JSON.parse(json), ',1234567890123456789']);
        expect(readExactJson(text, Number)).toEqual(JSON.parse(text));
        expect(readExactJson(Buffer.from(text), Number)).toEqual(JSON.parse(text));
        expect(writeExactJson(readExactJson(text))).toBe(text);
      }),
    );
  });

  it('keeps a double a number, and a number in a text a text', () => {
    const numbers = '1.12345678901234567,1e12345,1234567890123456,12345678901234567e1,0.1234567890123456789';
    const text = `[${numbers},"a,12345678901234567]"]`;
    expect(readExactJson(text)).toEqual(JSON.parse(text));
    const { length } = String(readExactJson(`[1${'0'.repeat(1_000)}]`));
    expect(length).toBe('Infinity'.length);
  });

  it.each(['{12345678901234567:1}', '[01234567890123456789]', '[12345678901234567', '[1 12345678901234567]'])(
    'throws for %s',
    (text) => expect(() => readExactJson(text)).toThrow(SyntaxError),
  );

  it('throws for members of one name', () => {
    expect(() => readExactJson('{"id":12345678901234567,"id":12345678901234568}')).toThrow(SyntaxError);
  });
});

describe('writeExactJson', () => {
  it('writes each whole number as it was read', () => {
    const text =
      '{"data":[{"chiRef":12345678901234567,"id":-98765432109876543210},{"chiRef":12345678901234568}]}';
    expect(writeExactJson(readExactJson(text))).toBe(text);
  });
});
