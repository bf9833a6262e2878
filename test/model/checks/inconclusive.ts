import { eventually } from '../../support/payments/paying';

/**
 * Thrown when the machine was too busy to complete a wave: a proxy did not start in time, or a step took too
 * long. Neither a counterexample nor evidence for the proxy.
 */
export class Inconclusive extends Error {}

/** Timeout far above any duration here. Beyond it, a step hangs. */
const TIMEOUT_MS = 20_000;

/** @throws Inconclusive after the timeout. Slowness on a busy machine is no counterexample. */
export async function within(
  otherwise: string | (() => string),
  done: () => Promise<boolean>,
): Promise<void> {
  await eventually(done, TIMEOUT_MS).catch((cause: unknown) => {
    throw new Inconclusive(typeof otherwise === 'string' ? otherwise : otherwise(), { cause });
  });
}
