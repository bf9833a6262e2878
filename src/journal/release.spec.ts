import { ageOf, earlier, releaseNow } from './release';

describe('the age of a release', () => {
  const [monotonicMs, wallMs] = [5_000, 1_800_000_000_000];
  const later = (byMonotonic: number, byWall: number) => {
    jest.spyOn(performance, 'now').mockReturnValue(monotonicMs + byMonotonic);
    jest.spyOn(Date, 'now').mockReturnValue(wallMs + byWall);
  };

  it.each([
    ['while both clocks run', 400, 400, 400],
    ['where the machine slept and the monotonic clock stood still', 0, 3_600_000, 3_600_000],
    ['where the wall clock was set back', 3_600_000, -60_000, 3_600_000],
  ])('follows the faster clock %s', (_when, byMonotonic, byWall, age) => {
    later(0, 0);
    const release = releaseNow();
    later(byMonotonic, byWall);
    expect(ageOf(release)).toBe(age);
    expect(ageOf(earlier(release, 100))).toBe(age + 100);
  });
});
