/**
 * Width of a step: two percent. A time is reported as the middle of its step, so the error is at most one
 * percent.
 */
export const STEPS_PER_E = 50;

/** Histogram of answers by steps of the natural logarithm of their time. Days can be summed. */
export type Times = Map<number, number>;

/** Returns the percentile of the answer times for this share, in ms. */
export function percentile(times: Times, part: number): number {
  const steps = [...times].sort(([one], [other]) => one - other);
  const wanted = part * steps.reduce((sum, [, count]) => sum + count, 0);
  let reached = 0;
  const [step] = steps.find(([, count]) => (reached += count) >= wanted) ?? steps.at(-1) ?? [-Infinity];
  return Number(Math.exp(step / STEPS_PER_E).toPrecision(3));
}
