/** How many examples a property test draws: so many in `npm test`, twenty times as many in `npm run test:long`. */
export const runs = (count: number): number => (process.env.TEST_LONG ? 20 * count : count);
