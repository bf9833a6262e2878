import { Lane, Shared, submit } from './lane';
import { Arrival, Intent, isInDoubt } from './records';

/** Longer than a call of an ended process may still be in progress. Until then, nobody may settle it. */
const SETTLEABLE_MS = 10_000;
const POLL_MS = 50;

/**
 * Settles calls in doubt as a person who knows their outcome, and lets their apps send once more with the same key.
 * @returns the errors.
 */
export async function settleByHand(
  shared: Shared,
  lanes: Lane[],
  intents: Intent[],
  arrivals: Arrival[],
): Promise<string[]> {
  const faults: string[] = [];
  const settle = async (lane: Lane, { id, number }: Intent) => {
    const carriedOut = arrivals.some((arrival) => arrival.number === number && arrival.processed);
    const ask = () =>
      shared.world.ask({
        process: 0,
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
    await submit(shared, lane, { number, submission: { process: 1, twin: false } });
  };
  const settling = lanes.filter(({ schedule }) => schedule.settlesDoubts);
  await Promise.all(
    settling.flatMap((lane) =>
      intents
        .filter((intent) => intent.clientId === lane.client.id && intent.idempotencyKey !== null && isInDoubt(intent))
        .map((intent) => settle(lane, intent)),
    ),
  );
  return faults;
}
