/** Random numbers that a seed repeats (mulberry32), and the distributions that the simulation draws. */

export function randomOf(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    uniform,
    /** @returns a time until the next event of this many per second. */
    exponential: (rate) => -Math.log(1 - uniform()) / rate,
    /** @returns a value of at least 1. The share of values over x is x to the power of minus the exponent. */
    pareto: (exponent) => (1 - uniform()) ** (-1 / exponent),
  };
}
