/**
 * The machine was too busy for a wave to come to its end: a proxy did not start in time, or what goes on took too long. That
 * is no counterexample, and says nothing in favour of the proxy either.
 */
export class Inconclusive extends Error {}
