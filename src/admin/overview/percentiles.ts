/** The width of a step: two percent. Times in a step are shown as its middle, so the error is at most one percent. */
export const STEPS_PER_E = 50;

/** The number of answers by steps of the natural logarithm of their time. Counts of several days can be added up. */
export type Times = Map<number, number>;

/** Returns the time in milliseconds within which this share of the answers arrived. */
export function percentile(times: Times, part: number): number {
  const steps = [...times].sort(([one], [other]) => one - other);
  const wanted = part * steps.reduce((sum, [, count]) => sum + count, 0);
  let reached = 0;
  const [step] = steps.find(([, count]) => (reached += count) >= wanted) ?? steps.at(-1) ?? [-Infinity];
  return Number(Math.exp(step / STEPS_PER_E).toPrecision(3));
}
