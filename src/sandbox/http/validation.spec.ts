import {
  fieldsOf,
  MAX_ITEMS,
  readAmount,
  readItems,
  readOptionalMeta,
  readOptionalText,
  readPhoneNumber,
  readText,
  readUsd,
} from './validation';

describe('validation', () => {
  it.each([[0.1], [1], [0.000001], [1_000_000_000], [5e-6]])('accepts %p as an amount', (value) => {
    expect(readUsd(value, 'amount').toNumber()).toBe(value);
  });

  it.each([
    [undefined, 'is required'],
    [null, 'is required'],
    ['5', 'must be a positive number'],
    [0, 'must be a positive number'],
    [-1, 'must be a positive number'],
    [Infinity, 'must be a positive number'],
    [NaN, 'must be a positive number'],
    [1_000_000_001, 'must be at most'],
    [1e300, 'must be at most'],
    [0.0000001, 'must have at most 6 decimals'],
  ])('rejects %p as an amount', (value, text) => {
    expect(() => readUsd(value, 'items[0].valueInUSD')).toThrow(`items[0].valueInUSD ${text}`);
  });

  it.each([['100'], ['0.000001'], ['20.50'], [5]])('accepts %p as an amount in any currency', (value) => {
    expect(readAmount(value, 'amount').equals(value)).toBe(true);
  });

  it.each([
    ['0'],
    ['-1'],
    ['1e3'],
    ['0x10'],
    ['NaN'],
    ['Infinity'],
    [' 1'],
    ['1,5'],
    [''],
    [0],
    [null],
    ['0.0000001'],
  ])('rejects %p as an amount in any currency', (value) => {
    expect(() => readAmount(value, 'amount')).toThrow(/^amount /);
  });

  it('accepts any object as meta, unless the database cannot store it', () => {
    expect(readOptionalMeta({ a: ['😀', { b: null }] }, 'meta')).toEqual({ a: ['😀', { b: null }] });
    expect(readOptionalMeta(null, 'meta')).toBeUndefined();
    for (const text of ['a\0b', '\ud83d', 'a\ude00'])
      expect(() => readOptionalMeta({ a: [text] }, 'meta')).toThrow('meta must not contain');
    expect(() => readOptionalMeta([], 'meta')).toThrow('meta must be an object');
  });

  it('accepts international phone numbers only', () => {
    expect(readPhoneNumber('+254700000001', 'phoneNumber')).toBe('+254700000001');
    for (const wrong of [
      '254700000001',
      '+0254700000',
      '+25470',
      '+2547000000011111',
      '+254 700000001',
      '+254700000001\n',
    ])
      expect(() => readPhoneNumber(wrong, 'phoneNumber')).toThrow('international format');
  });

  it('distinguishes required, empty and absent texts', () => {
    expect(() => readText('', 'reference')).toThrow('reference is required');
    expect(readText('', 'reference', true)).toBe('');
    expect(() => readText(undefined, 'reference', true)).toThrow('reference is required');
    expect(readOptionalText(null, 'description')).toBeNull();
    expect(() => readOptionalText(5, 'description')).toThrow('must be a string');
    expect(() => readOptionalText('a\0b', 'description')).toThrow('null character');
    expect(() => readOptionalText('a\ud83d', 'description')).toThrow('half a character');
    expect(readOptionalText('😀', 'description')).toBe('😀');
  });

  it.each([[undefined], [null], [[]], ['text'], [5]])('rejects %p as a body', (body) => {
    expect(() => fieldsOf(body)).toThrow('request body must be an object');
  });

  it('reads a batch in order, up to its limit, and names an invalid item', () => {
    const read = (item: { [name: string]: unknown }, name: string) => readText(item.a, `${name}.a`);
    expect(readItems({ list: [{ a: 'x' }, { a: 'y' }] }, 'list', read)).toEqual(['x', 'y']);
    expect(readItems({ list: Array(MAX_ITEMS).fill({ a: 'x' }) }, 'list', read)).toHaveLength(MAX_ITEMS);
    expect(() => readItems({ list: Array(MAX_ITEMS + 1).fill({ a: 'x' }) }, 'list', read)).toThrow(
      'at most 1000 items',
    );
    expect(() => readItems({ list: [] }, 'list', read)).toThrow('at least one item');
    expect(() => readItems({ list: { 0: {} } }, 'list', read)).toThrow('list must be an array');
    expect(() => readItems({ list: [{ a: 'x' }, 7] }, 'list', read)).toThrow('list[1] must be an object');
    expect(() => readItems({ list: [{ a: 'x' }, {}] }, 'list', read)).toThrow('list[1].a is required');
  });
});
