import { createHash } from 'node:crypto';
import { commitment, hex, newSalt } from './commitment';

describe('commitment', () => {
  it('is SHA-256 of the salt followed by the value', () => {
    const salt = newSalt();
    const expected = createHash('sha256')
      .update(Buffer.concat([salt, Buffer.from('ada@example.com')]))
      .digest();
    expect(commitment(salt, 'ada@example.com')).toEqual(expected);
    expect(commitment(salt, Buffer.from('ada@example.com'))).toEqual(expected);
  });

  it.each([0, 1, 1_359, 1_360, 1_361, 4_079, 4_080, 4_081, 9_000])(
    'is correct for %i bytes or letters',
    (length) => {
      const salt = newSalt();
      for (const value of ['x'.repeat(length), 'ж'.repeat(length), Buffer.alloc(length, 7)]) {
        expect(commitment(salt, value)).toEqual(createHash('sha256').update(salt).update(value).digest());
      }
    },
  );

  it('differs for equal values, because salts are random and have 128 bits', () => {
    const salts = Array.from({ length: 100 }, () => newSalt());
    expect(salts.every(({ length }) => length === 16)).toBe(true);
    expect(new Set(salts.map((salt) => commitment(salt, 'same')?.toString('hex'))).size).toBe(100);
  });

  it('is null for null, but not for an empty text', () => {
    expect(commitment(newSalt(), null)).toBeNull();
    expect(commitment(newSalt(), '')).not.toBeNull();
  });
});

describe('hex', () => {
  it("returns Postgres' own text form of bytes", () => {
    expect(hex(Buffer.of(0, 1, 254, 255))).toBe('\\x0001feff');
    expect(hex(Buffer.alloc(0))).toBe('\\x');
    expect(hex(null)).toBeNull();
  });
});
