import { termOf } from './terms';

describe('a term', () => {
  it('has a hash instead of a value that is too long for the index, and never a line break', () => {
    const long = '😀'.repeat(301);
    expect(termOf('reference:', '😀'.repeat(300))).toBe(`reference:${'😀'.repeat(300)}`);
    expect(termOf('reference:', long)).toMatch(/^reference:😀{200}#[0-9a-f]{64}$/u);
    expect(termOf('ref:', 'a\nto:b')).toMatch(/^ref:a to:b#[0-9a-f]{64}$/);
  });
});
