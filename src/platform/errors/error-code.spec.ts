import { codeOf, codeOrNameOf } from './error-code';

describe('the code of an error', () => {
  it.each([
    [Object.assign(new Error('no'), { code: 'ENOENT' }), 'ENOENT'],
    [
      new AggregateError([Object.assign(new Error('no'), { code: 'ECONNREFUSED' }), new Error('no')]),
      'ECONNREFUSED',
    ],
    [new DOMException('no', 'AbortError'), undefined], // its code is a number
    [new Error('no'), undefined],
    [{ code: '57P01' }, '57P01'],
    [undefined, undefined],
    [null, undefined],
    ['no', undefined],
  ])('is read from %j', (error, code) => expect(codeOf(error)).toBe(code));

  it('is replaced by the name of the error, and never by its message', () => {
    expect(codeOrNameOf(new TypeError('ada@example.com'))).toBe('TypeError');
    expect(codeOrNameOf('ada@example.com')).toBe('error');
  });
});
