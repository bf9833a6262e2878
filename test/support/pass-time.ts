/** From now on, ten seconds more have passed by the monotonic clock. */
export function passTime(): jest.SpyInstance {
  const now = performance.now.bind(performance);
  return jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
}
