import os from 'node:os';
import { ageOf, earlier, now } from '../heartbeat/instant';

describe('the age of an instant', () => {
  const [monotonicMs, bootMs, wallMs] = [5_000, 60_000, 1_800_000_000_000];
  const later = (byMonotonic: number, byBoot: number, byWall: number) => {
    jest.spyOn(performance, 'now').mockReturnValue(monotonicMs + byMonotonic);
    jest.spyOn(os, 'uptime').mockReturnValue((bootMs + byBoot) / 1_000);
    jest.spyOn(Date, 'now').mockReturnValue(wallMs + byWall);
  };
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['while all clocks run', 400, 400, 400, 400],
    ['where the machine slept and the monotonic clock stood still', 0, 3_600_000, 3_600_000, 3_600_000],
    ['where the machine slept and the wall clock was set back meanwhile', 0, 3_600_000, -60_000, 3_600_000],
    ['where the wall clock was set back', 3_600_000, 3_600_000, -60_000, 3_600_000],
    [
      'where a snapshot of the machine was restored and only the wall clock was corrected',
      0,
      0,
      3_600_000,
      3_600_000,
    ],
  ])('follows the clock that shows the most %s', (_when, byMonotonic, byBoot, byWall, age) => {
    later(0, 0, 0);
    const instant = now();
    later(byMonotonic, byBoot, byWall);
    expect(ageOf(instant)).toBe(age);
    expect(ageOf(earlier(instant, 100))).toBe(age + 100);
  });
});
