import { toSeconds } from './headers';

const NOW = Date.UTC(2026, 10, 28, 12, 0, 0, 1);

describe('toSeconds', () => {
  it.each<[value: string | null, seconds: number | null]>([
    ['37', 37],
    ['Sat, 28 Nov 2026 12:02:00 GMT', 120],
    ['Saturday, 28-Nov-26 12:02:00 GMT', 120],
    ['Sat Nov 28 12:02:00 2026', 120],
    ['Sun Dec  6 12:00:01 2026', 691_201],
    ['Sat, 28 Nov 2026 11:00:00 GMT', 0],
    ['Wed, 21 Oct 2099 07:28:00 GMT', null],
    ['2026-11-28T12:02:00Z', null],
    ['Sat, 28 Nov 2026 soon GMT', null],
    ['-1', null],
    ['1.5', null],
    ['', null],
    [null, null],
  ])('reads %s as %s', (value, seconds) => expect(toSeconds(value, NOW)).toBe(seconds));
});
