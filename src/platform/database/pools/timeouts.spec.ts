import { DatabaseTooSlow, waitAtMost, withTimeout } from './timeouts';

const never = new Promise<string>(() => undefined);

describe('waiting for a promise', () => {
  it('passes on the result or the error', async () => {
    expect(await waitAtMost(Promise.resolve('answer'), 1_000)).toBe('answer');
    await expect(waitAtMost(Promise.reject(new Error('refused')), 1_000)).rejects.toThrow('refused');
  });

  it('resolves without a result after the limit', async () => {
    expect(await waitAtMost(never, 1)).toBeUndefined();
    expect(await waitAtMost(never, 1, () => 'late')).toBe('late');
    await expect(withTimeout(never, 1)).rejects.toThrow(DatabaseTooSlow);
  });

  it('leaves no timer behind', async () => {
    jest.useFakeTimers();
    try {
      await Promise.allSettled([
        waitAtMost(Promise.resolve(1), 9),
        withTimeout(Promise.reject(new Error('no')), 9),
      ]);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
