/** Steps of two per cent: what lies in one is shown as its middle, so by at most one per cent too long or too short. */
export const STEPS_PER_E = 50;

/** How many answers took how long, by steps of its natural logarithm: those of several days can be added up. */
export type Times = Map<number, number>;

/** The shortest time, in milliseconds, that so large a part of the answers took at most. */
export function percentile(times: Times, part: number): number {
  const steps = [...times].sort(([one], [other]) => one - other);
  const wanted = part * steps.reduce((sum, [, count]) => sum + count, 0);
  let reached = 0;
  const [step] = steps.find(([, count]) => (reached += count) >= wanted) ?? steps.at(-1) ?? [-Infinity];
  return Number(Math.exp(step / STEPS_PER_E).toPrecision(3));
}
