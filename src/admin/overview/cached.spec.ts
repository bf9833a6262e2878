import { setTimeout as sleep } from 'node:timers/promises';
import { Cached } from './cached';

describe('what many look at', () => {
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

  it('is evaluated once for all who look at the same time, and for those who look soon after', async () => {
    const read = counter(60_000, 5);
    expect([...(await Promise.all([read(), read(), read()])), await read()]).toEqual([1, 1, 1, 1]);
  });

  it('is shown a while longer, while it is evaluated anew; and is waited for after that', async () => {
    const read = counter(10_000);
    expect(await read()).toBe(1);
    later(15_000);
    expect(await read()).toBe(1);
    await sleep(5);
    expect(await read()).toBe(2);
    later(40_000);
    expect(await read()).toBe(3);
  });

  it('that takes long is evaluated less often', async () => {
    const read = counter(1, 50);
    expect(await read()).toBe(1);
    later(800); // 20 × 50 ms have not passed
    expect([await read(), await sleep(60), await read()]).toEqual([1, undefined, 1]);
  });

  it('that could not be evaluated is evaluated for the next who looks', async () => {
    const evaluate = jest.fn().mockRejectedValueOnce(new Error('no database')).mockResolvedValue(2);
    const cached = new Cached<number>(evaluate, () => 60_000);
    await expect(cached.read()).rejects.toThrow('no database');
    expect((await cached.read()).value).toBe(2);
  });
});
