import { ResolverService } from '../../src/reconciliation/in-doubt/rounds/resolver.service';
import { within } from './checks/inconclusive';
import { Arrival, Intent, isInDoubt } from './checks/records';
import { Lane, Shared, submit } from './lane';
import { World } from './world';

/** Longer than a call of an ended process may be in progress. Before, it cannot be settled. */
const SETTLEABLE_MS = 10_000;
/** Longer than a temporary fence, which ends with the next heartbeat. */
const UNFENCED_MS = 3_000;
const POLL_MS = 50;

/** Knowledge of the person who settles. */
interface SettlementScene {
  /** The person's knowledge of the upstream. */
  arrivals: Arrival[];
  /** The person's knowledge of the proxy: all calls, in doubt or not. */
  known: Intent[];
  /** Proxies that accept the settlement. A fenced one settles nothing. */
  processes: number[];
}

/**
 * Settles calls in doubt at the end of a wave, for the schedules with that setting.
 * @returns the errors.
 */
export function settleByHand(
  shared: Shared,
  lanes: Lane[],
  intents: Intent[],
  arrivals: Arrival[],
): Promise<string[]> {
  const settling = lanes.filter(({ schedule, account }) => schedule.settlesDoubts && !account);
  return settle(shared, settling, intents, { arrivals, known: intents, processes: [0, 1] });
}

/**
 * Settles calls in doubt with their true outcome, and lets their apps resend with the same key.
 * @returns the errors.
 */
export async function settle(
  shared: Shared,
  lanes: Lane[],
  intents: Intent[],
  { arrivals, known, processes }: SettlementScene,
): Promise<string[]> {
  const faults: string[] = [];
  const settleOne = async (lane: Lane, intent: Intent) => {
    const { id, number } = intent;
    const carriedOut = arrivalsOf(intent, known, arrivals).some(({ processed }) => processed);
    const outcome = carriedOut ? 'confirmed' : 'not_executed';
    const ask = (process: number) =>
      shared.world.ask({
        process,
        path: `/v1/calls/${id}/resolution`,
        key: shared.world.keys.approvers[0] ?? '',
        body: { outcome, reason: 'as it was' },
      });
    const response = await settledBy(ask, processes);
    // A proxy killed just then loses its answer, but not its settlement.
    if (response !== 'fenced' && response?.status !== 200 && !(await isSettled(shared.world, id, outcome)))
      faults.push(`${id} could not be settled: ${response?.text}`);
    await submit(shared, lane, {
      number,
      submission: { process: 1 - (processes[0] ?? 0), concurrent: false, queued: false },
    });
  };
  await Promise.all(
    lanes.flatMap((lane) =>
      intents
        .filter(
          (intent) =>
            intent.clientId === lane.client.id && intent.idempotencyKey !== null && isInDoubt(intent),
        )
        .map((intent) => settleOne(lane, intent)),
    ),
  );
  return faults;
}

/** Returns the arrivals of a call: those of its request, without those of other answered calls. */
function arrivalsOf({ id, number }: Intent, known: Intent[], arrivals: Arrival[]): Arrival[] {
  const left = arrivals.filter((arrival) => arrival.number === number);
  for (const other of known) {
    if (other.number !== number || other.id === id || other.upstreamStatus === null) continue;
    const at = left.findIndex(({ httpStatus }) => httpStatus === other.upstreamStatus);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}

async function isSettled({ database }: World, id: string, outcome: string): Promise<boolean> {
  const settled = 'SELECT FROM current_settlement WHERE intent_id = $1 AND resolution = $2';
  return (await database.query(settled, [id, outcome])).length > 0;
}

/** Asks each proxy until one settles the call. @returns its answer, or `fenced` if all clocks stay wrong. */
async function settledBy<Answer extends { status: number; json: { code?: string } }>(
  ask: (process: number) => Promise<Answer | undefined>,
  processes: number[],
): Promise<Answer | undefined | 'fenced'> {
  const begun = performance.now();
  let last: Answer | undefined | 'fenced' = 'fenced';
  do {
    for (const process of processes) {
      const response = await ask(process);
      if (response?.json.code === 'instance_fenced') {
        last ??= 'fenced'; // killed before its answer
        continue;
      }
      if (response && response.json.code !== 'not_in_doubt') return response;
      last = response;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  } while (performance.now() - begun < (last === 'fenced' ? UNFENCED_MS : SETTLEABLE_MS));
  return last;
}

/** Checks that a round before the quiet periods end settles nothing as not executed. */
export async function checkEarlyRound(world: World): Promise<string[]> {
  const { verdicts } = await world.worker.get(ResolverService).runOnce();
  return verdicts
    .filter(({ verdict }) => verdict === 'not_executed')
    .map(({ call_id: id, reason }) => `${id} was settled before its quiet period ended: ${reason}`);
}

/** Lets the resolver settle what is left by the current lists, once no old database fences it. */
export async function settleRest(world: World): Promise<void> {
  await within('the resolver fails', async () => {
    const { failure } = await world.worker.get(ResolverService).runOnce();
    return failure === null;
  });
}

/**
 * Lets the resolver settle calls by the upstream's listing, and lets apps resend with the same key. The final
 * payments and records show whether it was right.
 * @returns the errors.
 */
export async function settleByList(shared: Shared, lanes: Lane[], intents: Intent[]): Promise<string[]> {
  const response = await shared.world.ask({
    process: 0,
    path: '/v1/reconciliation/resolver/rounds',
    key: shared.world.keys.reconciler,
  });
  if (response?.status === 500) return [`the resolver failed: ${response.text}`];
  if (response?.status !== 200) return []; // for example without its database; people settle all
  const { verdicts = [] } = response.json;
  const settled = new Set(
    verdicts.filter(({ verdict }) => verdict !== 'ambiguous').map(({ call_id }) => call_id),
  );
  const known = intents.filter(({ id, idempotencyKey }) => settled.has(id) && idempotencyKey !== null);
  await Promise.all(
    known.map(async ({ clientId, number }) => {
      const lane = lanes.find(({ client }) => client.id === clientId);
      if (lane)
        await submit(shared, lane, { number, submission: { process: 1, concurrent: false, queued: false } });
    }),
  );
  return [];
}
