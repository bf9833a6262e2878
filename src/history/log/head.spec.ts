import { leafHash } from '../../../test/support/records/leaf-hash';
import { formatCheckpoint, parseCheckpoint } from './head';
import { EMPTY_ROOT } from './merkle';

const ORIGIN = 'payouts.example/log';
const root = leafHash('a leaf');
const TEXT = `${ORIGIN}\n20852163\n${root.toString('base64')}\n`;

describe('a checkpoint', () => {
  it('is written and read in the format of C2SP', () => {
    expect(formatCheckpoint({ origin: ORIGIN, size: 20_852_163, root })).toBe(TEXT);
    expect(parseCheckpoint(TEXT)).toEqual({ origin: ORIGIN, size: 20_852_163, root, extensions: [] });
  });

  it('round-trips for empty logs, large logs and extensions', () => {
    for (const checkpoint of [
      { origin: ORIGIN, size: 0, root: EMPTY_ROOT, extensions: [] },
      {
        origin: 'an origin with spaces',
        size: Number.MAX_SAFE_INTEGER,
        root,
        extensions: ['one', 'two words'],
      },
    ]) {
      expect(parseCheckpoint(formatCheckpoint(checkpoint))).toEqual(checkpoint);
    }
  });

  it.each([
    ['is empty', ''],
    ['has two lines', `${ORIGIN}\n1\n`],
    ['does not end its last line', TEXT.slice(0, -1)],
    ['has no origin', TEXT.slice(ORIGIN.length)],
    ['has an empty extension', `${TEXT}\n`],
    ['has an empty extension before another', `${TEXT}\nmore\n`],
    ...['', '01', '-1', '+1', '1.0', '1e3', ' 1', '0x1', '9007199254740992', 'many'].map((size) => [
      `has the size ${JSON.stringify(size)}`,
      TEXT.replace('20852163', size),
    ]),
    ['has a short root', `${ORIGIN}\n1\n${root.subarray(1).toString('base64')}\n`],
    ['has a long root', `${ORIGIN}\n1\n${root.toString('base64')}AAAA\n`],
    ['has a root in hex', `${ORIGIN}\n1\n${root.toString('hex')}\n`],
    ['has a root in base64url', `${ORIGIN}\n1\n${Buffer.alloc(32, 0xff).toString('base64url')}\n`],
    [
      'has a root spelt another way',
      TEXT.replace(/.=\n$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=\n`),
    ],
  ])('is rejected if it %s', (_how, text) => {
    expect(() => parseCheckpoint(text)).toThrow(/checkpoint/);
  });

  it('is not written if it would be unreadable', () => {
    const good = { origin: ORIGIN, size: 1, root };
    for (const wrong of [
      ...['', 'two\nlines'].map((origin) => ({ ...good, origin })),
      ...[-1, 0.5, NaN, 2 ** 53].map((size) => ({ ...good, size })),
      { ...good, root: root.subarray(1) },
      ...['', 'two\nlines'].map((extension) => ({ ...good, extensions: [extension] })),
    ]) {
      expect(() => formatCheckpoint(wrong)).toThrow(/checkpoint|log cannot/);
    }
  });
});
