/** Steps per factor e: a width of two percent. Times are the middle of their step, with an error of 1 %. */
export const STEPS_PER_E = 50;

/** Histogram of responses by steps of the natural logarithm of their time. Days can be summed. */
export type Times = Map<number, number>;

/** Returns the percentile of the response times for this share, in ms. */
export function percentile(times: Times, share: number): number {
  const steps = [...times].sort(([a], [b]) => a - b);
  const rank = share * steps.reduce((sum, [, count]) => sum + count, 0);
  let cumulated = 0;
  const [step] = steps.find(([, count]) => (cumulated += count) >= rank) ?? steps.at(-1) ?? [-Infinity];
  return Number(Math.exp(step / STEPS_PER_E).toPrecision(3));
}
