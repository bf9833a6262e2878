/**
 * Thrown when the machine was too busy to complete a wave: a proxy did not start in time, or a step took too long. That
 * is no counterexample, and proves nothing in favour of the proxy either.
 */
export class Inconclusive extends Error {}
