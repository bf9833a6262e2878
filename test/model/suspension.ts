import { setTimeout as sleep } from 'node:timers/promises';
import { Suspension } from './disaster';
import { Lane, Shared } from './lane';
import { readArrivals, readIntents } from './checks/records';
import { settle } from './settle-by-hand';

const POLL_MS = 50;

/** After so many polls without a submission, everybody waits for the proxy that stands still. */
const POLLS_WITHOUT_WORK = 6;

/**
 * Suspends a proxy until the others have submitted enough, or have nothing else to do. Its calls may be settled
 * meanwhile, as a person finds them at the upstream, and their apps then ask again with the same key.
 * @returns the errors, and how many calls were settled.
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
    if (settled) await world.proxies.loseSight(victim);
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

/** What the sandbox has not carried out by now, the suspended proxy has not sent, and must not send later. */
async function settleSuspended(shared: Shared, lanes: Lane[], victim: number) {
  const { world } = shared;
  const clientIds = lanes.map(({ client }) => client.id);
  const intents = await readIntents(world, clientIds);
  const gone = intents.filter(({ alive, outcome }) => !alive && outcome === null);
  const arrivals = await readArrivals(world.sandbox);
  // The sandbox may still carry out what has arrived, so a person waits for it.
  const decided = gone.filter(({ number }) => !arrivals.some((one) => one.number === number && !one.processed));
  const faults = await settle(shared, lanes, decided, { arrivals, known: intents, processes: [1 - victim] });
  return { faults, settled: decided.length };
}
