import { termOf } from './search-terms';

describe('a term', () => {
  it('hashes a value that is too long for the index, and contains no line break', () => {
    const long = '😀'.repeat(201);
    expect(termOf('reference:', '😀'.repeat(75))).toBe(`reference:${'😀'.repeat(75)}`);
    expect(termOf('reference:', long)).toMatch(/^reference:😀{200}#[0-9a-f]{64}$/u);
    expect(termOf('ref:', 'a\nto:b')).toMatch(/^ref:a to:b#[0-9a-f]{64}$/);
  });
});
