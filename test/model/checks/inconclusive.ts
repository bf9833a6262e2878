import { eventually } from '../../support/payments/paying';

/**
 * Thrown when the machine was too busy to complete a wave: a proxy did not start in time, or a step took too long. That
 * is no counterexample, and proves nothing in favour of the proxy either.
 */
export class Inconclusive extends Error {}

/** Far longer than anything here takes: past it, something hangs. */
const PATIENCE_MS = 20_000;

/** @throws Inconclusive past the time. Slowness is no counterexample on a busy machine. */
export async function within(otherwise: string, done: () => Promise<boolean>): Promise<void> {
  await eventually(done, PATIENCE_MS).catch((cause: unknown) => {
    throw new Inconclusive(otherwise, { cause });
  });
}
