import { BackOff } from './back-off';

const HOUR = 3_600_000;
const SENT = new Date(0);

describe('the back-off of calls in doubt', () => {
  const dueAt = (backOff: BackOff, from: number) => {
    let now = from;
    while (!backOff.isDue('a', now)) now += 1_000;
    return now;
  };

  it('doubles up to an hour, but ends with the quiet period', () => {
    const backOff = new BackOff(10_000);
    expect(backOff.isDue('a', 0)).toBe(true);
    const waits: number[] = [];
    for (let round = 0, now = 0; round < 12; round += 1) {
      backOff.polled('a', SENT, now, 25_000);
      const next = dueAt(backOff, now);
      waits.push((next - now) / 1_000);
      now = next;
    }
    expect(waits).toEqual([10, 15, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600, 3_600]);
  });

  it('waits at most a minute while the upstream fails', () => {
    const backOff = new BackOff(10_000);
    const waits: number[] = [];
    for (let now = 0; waits.length < 6;) {
      backOff.polled('a', SENT, now, 0, true);
      const next = dueAt(backOff, now);
      waits.push((next - now) / 1_000);
      now = next;
    }
    expect(waits).toEqual([10, 20, 40, 60, 60, 60]);
    for (let round = 0; round < 12; round += 1) backOff.polled('a', SENT, 0, 0);
    backOff.polled('a', SENT, HOUR, 0, true);
    expect(dueAt(backOff, HOUR) - HOUR).toBe(60_000);
  });

  it('leaves a polled call to a person after a week without news', () => {
    const backOff = new BackOff(1_000);
    const late = 8 * 24 * HOUR;
    expect(backOff.isDue('a', late)).toBe(true);
    backOff.polled('a', SENT, late, 0);
    expect(backOff.isDue('a', late + 2 * HOUR)).toBe(false);
  });

  it('ends early for recent calls when an event arrives', () => {
    const backOff = new BackOff(HOUR);
    const old = new Date(-2 * HOUR);
    backOff.polled('a', SENT, 0, 0);
    backOff.polled('old', old, 0, 0);
    backOff.hurry(1_000);
    expect([backOff.isDue('a', 1_000), backOff.isDue('old', 1_000)]).toEqual([true, false]);
  });

  it('ends when the clock is set back', () => {
    const backOff = new BackOff(1_000);
    backOff.polled('a', SENT, 24 * HOUR, 0);
    expect(backOff.isDue('a', HOUR)).toBe(true);
  });

  it('forgets calls that are no longer in doubt', () => {
    const backOff = new BackOff(HOUR);
    backOff.polled('a', SENT, 0, 0);
    backOff.keepOnly(new Set(['b']));
    expect(backOff.isDue('a', 0)).toBe(true);
  });
});
