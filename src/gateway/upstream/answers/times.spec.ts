import fc from 'fast-check';
import { readTime } from './times';

describe('readTime', () => {
  it.each<[unknown, string | undefined]>([
    ['2026-11-20T10:00:00.123Z', '2026-11-20T10:00:00.123Z'],
    ['2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T10:00:00', '2026-11-20T10:00:00.000Z'], // not this machine's zone
    ['2026-11-20 10:00', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    [1_763_632_800_000, '2025-11-20T10:00:00.000Z'],
    [1_763_632_800, '2025-11-20T10:00:00.000Z'], // seconds
    [1_763_632_800.5, '2025-11-20T10:00:00.500Z'],
    [946_684_800, '2000-01-01T00:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:05 +0000', '2026-11-20T10:00:05.000Z'],
    ['Fri, 20 Nov 2026 10:00:05 GMT', '2026-11-20T10:00:05.000Z'],
    ['1 Jan 2026 00:30 +0300', '2025-12-31T21:30:00.000Z'],
    [{ _seconds: 1_763_632_800, _nanoseconds: 500_999_999 }, '2025-11-20T10:00:00.500Z'],
    [{ _seconds: 1_763_632_800 }, '2025-11-20T10:00:00.000Z'],
    [{ _seconds: '1763632800' }, undefined],
    ['Mon, 30 Feb 2026 10:00:05 +0000', undefined],
    ['Fri, 20 Abc 2026 10:00:05 +0000', undefined],
    ['Fri, 20 Nov 2026 10:00:05', undefined],
    [4_102_444_799_999, '2099-12-31T23:59:59.999Z'],
    ...'2026-13-20|20.11.2026|yesterday||1763632800000|0000-01-01|2026-02-30|2026-04-31T10:00:00Z'
      .split('|')
      .map((text): [unknown, undefined] => [text, undefined]),
    ...[-1, 0, 17_636_328, 946_684_799, 4_102_444_800, 946_684_799_999, 4_102_444_800_000].map(
      (number): [unknown, undefined] => [number, undefined],
    ),
    ...['9999-12-31T23:59:59-01:00', 1_763_632_800_000_000, 1e300, null, true, {}].map(
      (nonsense): [unknown, undefined] => [nonsense, undefined],
    ),
  ])('reads the time %j as %s', (issueDate, at) => {
    expect(readTime(issueDate)?.toISOString()).toBe(at);
  });

  it('reads a moment of this century alike in every form, and never as another one', () => {
    const moment = fc.date({
      min: new Date('2000-01-01'),
      max: new Date('2099-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moment, (at) => {
        const ms = at.getTime();
        expect(readTime(at.toISOString())?.getTime()).toBe(ms);
        expect(readTime(ms)?.getTime()).toBe(ms);
        const second = ms - (ms % 1_000);
        expect(readTime(Math.floor(ms / 1_000))?.getTime()).toBe(second);
        expect(readTime(at.toUTCString())?.getTime()).toBe(second);
        const [_seconds, _nanoseconds] = [second / 1_000, (ms - second) * 1e6];
        expect(readTime({ _seconds, _nanoseconds })?.getTime()).toBe(ms);
      }),
    );
    fc.assert(
      fc.property(fc.double(), (number) => {
        const year = readTime(number)?.getUTCFullYear() ?? 2000;
        return year >= 2000 && year < 2100;
      }),
    );
  });
});
