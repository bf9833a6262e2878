import { createHash } from 'node:crypto';
import { hashKey, newKey } from './key';

describe('a key', () => {
  it('contains its client, and 32 random letters and digits', () => {
    expect(newKey('web-shop')).toMatch(/^pp_web-shop_[0-9A-Za-z]{32}$/);
  });

  it('is never issued twice', () => {
    expect(new Set(Array.from({ length: 2_000 }, () => newKey('a'))).size).toBe(2_000);
  });

  it('contains every letter and digit equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i += 1) {
      for (const letter of newKey('a').slice(5)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(counts.size).toBe(62); // 64,000 draws: 1,032 each, and a deviation of 32
    for (const count of counts.values()) expect(Math.abs(count - 1_032)).toBeLessThan(300);
  });

  it('is stored as its SHA-256', () => {
    expect(hashKey('pp_a_b')).toEqual(createHash('sha256').update('pp_a_b').digest());
  });
});
