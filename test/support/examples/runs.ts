/**
 * Returns the number of examples of a property test: `count` in `npm test`, and a multiple in `npm run
 * test:long`.
 */
export const runs = (count: number): number => count * Number(process.env.TEST_RUNS_FACTOR ?? 1);
