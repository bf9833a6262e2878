import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work in steps of a few milliseconds. */
export type Steps = Generator<void, void, void>;

/** Does work without a pause. */
export function atOnce(work: Steps): void {
  while (!work.next().done);
}

/** Does work, and lets other requests run after each step. */
export async function inTurns(work: Steps): Promise<void> {
  while (!work.next().done) await nextTurn();
}
