import { BURST, FaultThrottle, LONGEST_DELAY_MS, PAUSE_MS } from './fault-throttle';

describe('the throttle of long bodies with faults', () => {
  let now: number;
  let throttle: FaultThrottle;

  beforeEach(() => {
    now = 1e6;
    throttle = new FaultThrottle(() => now);
  });

  /** Sends bodies with faults as soon as possible, and returns their delays. */
  const delays = (key: string, count: number) =>
    Array.from({ length: count }, () => {
      const delay = throttle.delayOf(key);
      throttle.noteFaults(key, delay > 0);
      return delay;
    });

  it('lets some through at once, and then one a second', () => {
    expect(delays('a', BURST + 4).slice(0, BURST)).toEqual(Array(BURST).fill(0));
    now += PAUSE_MS / 2;
    const [first, second] = delays('a', 2);
    expect(Number(second) - Number(first)).toBe(PAUSE_MS);
  });

  it('allows one body a second for as long as a key sends faults', () => {
    let read = 0;
    for (let second = 0; second < 100; second += 1, now += 1_000) {
      for (const delay of delays('a', 1)) if (delay === 0 || delay <= PAUSE_MS) read += 1;
    }
    expect(read).toBeLessThanOrEqual(100 + BURST + 1);
    expect(read).toBeGreaterThan(90);
  });

  it('delays nothing for longer than senders wait, whatever else was refused', () => {
    const longest = Math.max(...delays('a', 200));
    expect(longest).toBeGreaterThan(LONGEST_DELAY_MS); // refused
    now += longest - LONGEST_DELAY_MS;
    expect(throttle.delayOf('a')).toBeLessThanOrEqual(LONGEST_DELAY_MS);
  });

  it('slows down no other key', () => {
    delays('a', 50);
    expect(delays('b', 1)).toEqual([0]);
  });

  it('forgets the faults of a key with its first valid body', () => {
    delays('a', 50);
    expect(throttle.delayOf('a')).toBeGreaterThan(0);
    throttle.noteValid('a');
    expect(delays('a', BURST)).toEqual(Array(BURST).fill(0));
  });
});
