import { Lane, Shared, submit } from './lane';
import { Arrival, Intent, isInDoubt } from './records';

/** Longer than a call of an ended process may still be in progress. Until then, nobody may settle it. */
const SETTLEABLE_MS = 10_000;
const POLL_MS = 50;

interface Settling {
  /** What the person knows of the upstream. */
  arrivals: Arrival[];
  /** The proxy on which it is settled. */
  process: number;
}

/**
 * Settles calls in doubt at the end of a wave, for the schedules that want it.
 * @returns the errors.
 */
export function settleByHand(shared: Shared, lanes: Lane[], intents: Intent[], arrivals: Arrival[]): Promise<string[]> {
  const settling = lanes.filter(({ schedule }) => schedule.settlesDoubts);
  return settle(shared, settling, intents, { arrivals, process: 0 });
}

/**
 * Settles calls in doubt as a person who knows their outcome, and lets their apps send once more with the same key.
 * @returns the errors.
 */
export async function settle(
  shared: Shared,
  lanes: Lane[],
  intents: Intent[],
  { arrivals, process }: Settling,
): Promise<string[]> {
  const faults: string[] = [];
  const settleOne = async (lane: Lane, { id, number }: Intent) => {
    const carriedOut = arrivals.some((arrival) => arrival.number === number && arrival.processed);
    const ask = () =>
      shared.world.ask({
        process,
        path: `/v1/calls/${id}/resolution`,
        key: shared.world.keys.approvers[0] ?? '',
        body: { outcome: carriedOut ? 'confirmed' : 'not_executed', reason: 'as it was' },
      });
    const ends = performance.now() + SETTLEABLE_MS;
    let told = await ask();
    while (told?.json.code === 'not_in_doubt' && performance.now() < ends) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      told = await ask();
    }
    if (told?.status !== 200) faults.push(`${id} could not be settled: ${told?.text}`);
    await submit(shared, lane, { number, submission: { process: 1 - process, twin: false } });
  };
  await Promise.all(
    lanes.flatMap((lane) =>
      intents
        .filter((intent) => intent.clientId === lane.client.id && intent.idempotencyKey !== null && isInDoubt(intent))
        .map((intent) => settleOne(lane, intent)),
    ),
  );
  return faults;
}
