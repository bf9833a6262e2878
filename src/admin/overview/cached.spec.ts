import { setTimeout as sleep } from 'node:timers/promises';
import { Cached } from './cached';

describe('Cached', () => {
  afterEach(() => jest.restoreAllMocks());

  /** Counts its evaluations. Each takes `ms`. */
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

  it('evaluates once for concurrent and immediately following readers', async () => {
    const read = counter(60_000, 5);
    expect([...(await Promise.all([read(), read(), read()])), await read()]).toEqual([1, 1, 1, 1]);
  });

  it('serves a stale value during a reevaluation, then waits for the new one', async () => {
    const read = counter(10_000);
    expect(await read()).toBe(1);
    later(15_000);
    expect(await read()).toBe(1);
    await sleep(5);
    expect(await read()).toBe(2);
    later(40_000);
    expect(await read()).toBe(3);
  });

  it('evaluates a slow value less often', async () => {
    const read = counter(1, 50);
    expect(await read()).toBe(1);
    later(800); // 20 × 50 ms have not passed
    expect([await read(), await sleep(60), await read()]).toEqual([1, undefined, 1]);
  });

  it('retries for the next reader after a failure', async () => {
    const evaluate = jest.fn().mockRejectedValueOnce(new Error('no database')).mockResolvedValue(2);
    const cached = new Cached<number>(evaluate, () => 60_000);
    await expect(cached.read()).rejects.toThrow('no database');
    expect((await cached.read()).value).toBe(2);
  });
});
