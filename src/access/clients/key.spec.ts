import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hashKey, isEphemeralKey, isWellFormedKey, newClaimCode, newEphemeralKey, newKey } from './key';

describe('API key', () => {
  it('contains its client, 32 random letters and digits, and a checksum', () => {
    expect(newKey('web-shop')).toMatch(/^pp_web-shop_[0-9A-Za-z]{38}$/);
  });

  it('ends with the CRC-32 of its prefix in base 62, for secret scanners', () => {
    // By Python: zlib.crc32(b'pp_shop_0123456789ABCDEFGHIJKLMNOPQRSTUV') is 1634711623.
    expect(isWellFormedKey('pp_shop_0123456789ABCDEFGHIJKLMNOPQRSTUV1md5AV')).toBe(true);
  });

  it('is malformed after any edit', () => {
    const key = newKey('web-shop');
    expect(isWellFormedKey(key)).toBe(true);
    const other = (letter: string | undefined) => (letter === 'a' ? 'b' : 'a');
    const typos = [...key].map((letter, at) => `${key.slice(0, at)}${other(letter)}${key.slice(at + 1)}`);
    const [head, tail] = [key.slice(0, 20), key.slice(22)];
    const swapped = key[20] === key[21] ? key.slice(1) : `${head}${key[21]}${key[20]}${tail}`;
    const cut = [key.slice(0, -1), key.slice(0, -6), key.slice(1), `${key}a`, ` ${key}`, `${key}\n`, ''];
    const renamed = [
      key.replace('web-shop', 'web-shoq'),
      key.replace('web-shop', 'Web-shop'),
      key.toUpperCase(),
    ];
    expect([...typos, swapped, ...cut, ...renamed].filter(isWellFormedKey)).toEqual([]);
  });

  it('matches the documented pattern for secret scanners', () => {
    const [, pattern] =
      /```text\n(pp\[ce\]\?_.*)\n```/.exec(readFileSync('docs/operate/clients.md', 'utf8')) ?? [];
    for (const key of [newKey('web-shop'), newEphemeralKey('web-shop'), newClaimCode('web-shop')])
      expect(key).toMatch(new RegExp(`^${pattern}$`));
  });

  it('is ephemeral by a prefix under its checksum', () => {
    const key = newEphemeralKey('web-shop');
    expect(key).toMatch(/^ppe_web-shop_[0-9A-Za-z]{38}$/);
    expect([key, newKey('web-shop'), newKey('e')].map(isEphemeralKey)).toEqual([true, false, false]);
    expect([key, key.replace('ppe_', 'pp_'), key.replace('ppe_', 'ppee_')].map(isWellFormedKey)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('is never issued twice', () => {
    expect(new Set(Array.from({ length: 2_000 }, () => newKey('a'))).size).toBe(2_000);
  });

  it('contains every letter and digit equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i += 1) {
      for (const letter of newKey('a').slice(5, -6)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(counts.size).toBe(62); // 64,000 draws: 1,032 each, and a deviation of 32
    for (const count of counts.values()) expect(Math.abs(count - 1_032)).toBeLessThan(300);
  });

  it('is stored as its SHA-256', () => {
    expect(hashKey('pp_a_b')).toEqual(createHash('sha256').update('pp_a_b').digest());
  });
});
