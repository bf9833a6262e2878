import { isObject } from '../rules';
import type { Timers } from '../timers';
import type { Struck } from './faults';
import { rowOf } from './table';

/** The answer of a fault that has no answer of its own and carries nothing out. */
const NOTHING_DONE = { error: 'None' };

/** Returns the body to carry out: the whole, unless the fault leaves out the last item of a list. */
export function bodyAsStruck(struck: Struck | undefined, body: unknown): unknown {
  if (!struck || !rowOf(struck.fault).leavesOutLast || !isObject(body)) return body;
  const lists = Object.entries(body).map(([name, value]) => [name, shortened(value)]);
  return Object.fromEntries(lists) as unknown;
}

function shortened(value: unknown): unknown {
  return Array.isArray(value) && value.length > 1 ? value.slice(0, -1) : value;
}

/** Carries an operation out when and as often as the fault requires, and returns its answer. */
export async function carryOut<T>(
  struck: Struck | undefined,
  run: () => Promise<T>,
  timers: Timers,
): Promise<T | typeof NOTHING_DONE> {
  if (!struck) return run();
  if (!struck.processed) return NOTHING_DONE;
  const { carriedOut, times = 1 } = rowOf(struck.fault);
  const { ms = 0 } = struck.settings;
  if (carriedOut === 'afterTheAnswer') {
    timers.later(ms, run);
    return NOTHING_DONE;
  }
  if (carriedOut === 'delayed') await timers.wait(ms);
  const first = await run();
  // For example for lack of money. The first result stands.
  for (let more = 1; more < times; more++) await run().catch(() => undefined);
  return first;
}
