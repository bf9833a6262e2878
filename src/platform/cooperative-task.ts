import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Work in steps of a few milliseconds. */
export type CooperativeTask = Generator<void, void, void>;

/** Runs work without a pause. */
export function runAtOnce(work: CooperativeTask): void {
  while (!work.next().done);
}

/** Runs work, and lets other requests run between its steps. */
export type TaskRunner = (work: CooperativeTask) => Promise<void>;

/**
 * Runs work, and lets other requests run after each step.
 * @param restAfter returns how long the work rests after a step of this length. Both in milliseconds.
 */
export async function runInTurns(
  work: CooperativeTask,
  restAfter: (workedMs: number) => number = () => 0,
): Promise<void> {
  for (let beganAt = performance.now(); !work.next().done; beganAt = performance.now()) {
    const restMs = restAfter(performance.now() - beganAt);
    await (restMs > 0 ? sleep(restMs) : nextTurn());
  }
}
