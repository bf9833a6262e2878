/** Advances the monotonic clock by ten seconds. */
export function passTime(): jest.SpyInstance {
  const now = performance.now.bind(performance);
  return jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
}
