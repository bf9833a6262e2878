import { setTimeout as sleep } from 'node:timers/promises';
import { Cached } from './cached';

describe('a cached value', () => {
  afterEach(() => jest.restoreAllMocks());

  /** Counts how often it was evaluated; takes `ms`. */
  function counter(leastMs: number, ms = 0) {
    let count = 0;
    const cached = new Cached(
      async () => {
        await sleep(ms);
        return (count += 1);
      },
      () => leastMs,
    );
    return async () => (await cached.read()).value;
  }

  const later = (ms: number) => {
    const now = performance.now() + ms;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  };

  it('is evaluated once for concurrent readers, and for readers soon after', async () => {
    const read = counter(60_000, 5);
    expect([...(await Promise.all([read(), read(), read()])), await read()]).toEqual([1, 1, 1, 1]);
  });

  it('is still shown while it is evaluated anew, and waited for after that', async () => {
    const read = counter(10_000);
    expect(await read()).toBe(1);
    later(15_000);
    expect(await read()).toBe(1);
    await sleep(5);
    expect(await read()).toBe(2);
    later(40_000);
    expect(await read()).toBe(3);
  });

  it('is evaluated less often if it takes long', async () => {
    const read = counter(1, 50);
    expect(await read()).toBe(1);
    later(800); // 20 × 50 ms have not passed
    expect([await read(), await sleep(60), await read()]).toEqual([1, undefined, 1]);
  });

  it('is evaluated again for the next reader after a failure', async () => {
    const evaluate = jest.fn().mockRejectedValueOnce(new Error('no database')).mockResolvedValue(2);
    const cached = new Cached<number>(evaluate, () => 60_000);
    await expect(cached.read()).rejects.toThrow('no database');
    expect((await cached.read()).value).toBe(2);
  });
});
