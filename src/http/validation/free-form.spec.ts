import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { FreeForm } from './free-form';

class Body {
  @FreeForm('Anything.')
  note?: object;
}

function isTaken(note: unknown): boolean {
  return validateSync(Object.assign(new Body(), { note })).length === 0;
}
const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });

describe('a free-form field', () => {
  it('is optional, and must be an object: no list, text, number or null', () => {
    expect([isTaken(undefined), isTaken({})]).toEqual([true, true]);
    for (const wrong of [null, [], [{}], '{}', 5, true])
      expect([wrong, isTaken(wrong)]).toEqual([wrong, false]);
  });

  it('has at most 8 levels and 8,192 bytes of UTF-8', () => {
    expect([isTaken(nested(9)), isTaken(nested(10))]).toEqual([true, false]);
    expect([isTaken({ a: 'x'.repeat(8_184) }), isTaken({ a: 'x'.repeat(8_185) })]).toEqual([true, false]);
    expect(isTaken({ a: 'ü'.repeat(4_093) })).toBe(false);
  });

  it.each(['\0', '\ud800', 'a\udc00b'])('rejects text that could not be stored or sent: %j', (bad) => {
    for (const note of [{ a: bad }, { a: [{ b: bad }] }, { [bad]: 1 }, { a: [{ [bad]: 1 }] }]) {
      expect(isTaken(note)).toBe(false);
    }
    expect(isTaken({ 'line\nend': '🎉\t\u0085' })).toBe(true);
  });

  it('rejects a number whose digits would change', () => {
    for (const number of ['1e309', '-1e400', '9007199254740993', '12345678901234567890']) {
      expect([number, isTaken(JSON.parse(`{"a":[${number}]}`))]).toEqual([number, false]);
    }
    for (const number of [0, -1, 0.1, 1e-7, 9_007_199_254_740_991]) expect(isTaken({ a: number })).toBe(true);
  });

  it('never throws for any JSON', () => {
    fc.assert(fc.property(fc.jsonValue(), (note) => expect(typeof isTaken(note)).toBe('boolean')));
  });
});
