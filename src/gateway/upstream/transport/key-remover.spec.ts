import fc from 'fast-check';
import { KeyRemover } from './key-remover';

const KEY = 'sk/live+A.b=9_"\\z';

describe('KeyRemover', () => {
  const remover = new KeyRemover(KEY);

  it.each([
    ['as it is', KEY],
    ['in JSON', JSON.stringify(KEY)],
    ['in JSON with escaped slashes', JSON.stringify(KEY).replaceAll('/', '\\/')],
    [
      'in JSON with everything escaped',
      Array.from(KEY, (c) => `\\u00${c.charCodeAt(0).toString(16).toUpperCase()}`).join(''),
    ],
    ['in a URL', encodeURIComponent(KEY)],
    ['in a URL in lower case', encodeURIComponent(KEY).replace(/%../g, (escape) => escape.toLowerCase())],
  ])('removes the key %s', (_spelling, spelled) => {
    const cleaned = remover.fromBytes(Buffer.from(`before ${spelled} between ${spelled} after`)).toString();
    expect(cleaned.replaceAll('"', '')).toBe('before [key removed] between [key removed] after');
    expect(remover.fromText(spelled)).toContain('[key removed]');
  });

  it('removes keys that were added later, and one that begins with another as a whole', () => {
    const several = new KeyRemover('first-key');
    for (const key of ['first-key-renewed', 'second-key', 'second-key']) several.add(key);
    const text = 'a first-key b first-key-renewed c second-key d';
    const removed = 'a [key removed] b [key removed] c [key removed] d';
    expect(several.fromBytes(Buffer.from(text)).toString()).toBe(removed);
    expect(several.fromText(text)).toBe(removed);
  });

  it('keeps every other byte', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (before, after) => {
        const [head, tail] = [Buffer.from(before), Buffer.from(after)];
        expect(remover.fromBytes(head)).toBe(head);
        const cleaned = remover.fromBytes(Buffer.concat([head, Buffer.from(KEY), tail]));
        expect(cleaned).toEqual(Buffer.concat([head, Buffer.from('[key removed]'), tail]));
      }),
    );
  });
});
