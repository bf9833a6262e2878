import { Lane, Shared, submit } from './lane';
import { Arrival, Intent, isInDoubt } from './records';

/**
 * A person finds out what became of calls in doubt and settles them as it was, and their apps ask once more with the same key.
 * @returns what went wrong with that.
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
    const told = await shared.world.ask({
      process: 0,
      path: `/v1/calls/${id}/resolution`,
      key: shared.world.keys.approvers[0] ?? '',
      body: { verdict: carriedOut ? 'landed' : 'absent', reason: 'as it was' },
    });
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
