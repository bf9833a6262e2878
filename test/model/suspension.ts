import { setTimeout as sleep } from 'node:timers/promises';
import { readArrivals, readIntents } from './checks/records';
import { Suspension } from './disaster';
import { Lane, Shared } from './lane';
import { settle } from './settle';

const POLL_MS = 50;

/** Number of polls without a submission after which all wait for the frozen proxy. */
const POLLS_WITHOUT_WORK = 6;

/**
 * Suspends a proxy until the others have submitted enough, or have no work left. A person may settle its
 * calls by the upstream, and their apps then resend with the same key.
 * @returns the errors, and the number of settled calls.
 */
export async function suspend(
  shared: Shared,
  lanes: Lane[],
  { victim, forSubmissions, settled, atSend }: Suspension,
): Promise<{ faults: string[]; settled: number }> {
  const { world } = shared;
  const isSuspended = atSend ? await world.proxies.suspendAtSend(victim) : world.proxies.suspend(victim);
  if (!isSuspended) return { faults: [], settled: 0 };
  try {
    if (settled) world.outOfSight = await world.proxies.loseSight(victim);
    await othersWork(shared, forSubmissions);
    return settled ? await settleSuspended(shared, lanes, victim) : { faults: [], settled: 0 };
  } finally {
    await world.proxies.wake(victim);
  }
}

async function othersWork(shared: Shared, forSubmissions: number): Promise<void> {
  const until = shared.submissions + forSubmissions;
  let [last, idle] = [shared.submissions, 0];
  while (shared.submissions < until && idle < POLLS_WITHOUT_WORK) {
    await sleep(POLL_MS);
    idle = shared.submissions === last ? idle + 1 : 0;
    last = shared.submissions;
  }
}

/** Settles calls that the sandbox has not executed. The suspended proxy must not send them later. */
async function settleSuspended(shared: Shared, lanes: Lane[], victim: number) {
  const { world } = shared;
  // A person does not know which of several items the simulated upstream has paid.
  const clientIds = lanes.filter(({ account }) => !account).map(({ client }) => client.id);
  const intents = await readIntents(world, clientIds);
  const gone = intents.filter(({ alive, outcome }) => !alive && outcome === null);
  const arrivals = await readArrivals(world);
  // The sandbox may still execute arrived requests, so a person waits for it.
  const decided = gone.filter(
    ({ number }) => !arrivals.some((one) => one.number === number && !one.processed),
  );
  const faults = await settle(shared, lanes, decided, { arrivals, known: intents, processes: [1 - victim] });
  return { faults, settled: decided.length };
}
