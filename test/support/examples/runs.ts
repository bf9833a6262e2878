/** Returns the number of examples of a property test: a multiple of `count` in `npm run test:long`. */
export const runs = (count: number): number => count * Number(process.env.TEST_RUNS_FACTOR ?? 1);
