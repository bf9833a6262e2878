/**
 * Returns the number of examples of a property test: this many in `npm test`, and many times as many in `npm run
 * test:long`.
 */
export const runs = (count: number): number => count * Number(process.env.TEST_RUNS_FACTOR ?? 1);
