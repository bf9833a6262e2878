import { loadConfig } from '../../src/platform/config/config';
import { overAfterMs } from '../../src/platform/config/upstream/upstream-timeouts';
import { NUMBERS_PER_LANE } from './bodies';
import { bystandersPay } from './bystander';
import { within } from './checks/inconclusive';
import { Arrival, Intent, isInDoubt, readArrivals, readIntents } from './checks/records';
import { eventsOf, WaveFailures } from './events';
import { Lane, lift, openLane, runLane, Shared } from './lane';
import { DatabaseLoss } from './loss';
import { ENVIRONMENT } from './proxies';
import { TransferFault, Wave } from './schedule';
import { checkEarlyRound, settleByHand, settleByList, settleRest } from './settle';
import { World } from './world';

/** The state after all work has ended. */
export interface FinishedWave {
  lanes: Lane[];
  intents: Intent[];
  arrivals: Arrival[];
  /** Errors found earlier. */
  violations: string[];
  /** Number of calls settled while their proxy was suspended. */
  settledSuspended: number;
  /** Losses of the database. */
  lost: DatabaseLoss | undefined;
  /** Number of calls settled by the follow-up. */
  followed: number;
}

/** Runs schedules concurrently with failures, and waits until nothing is in progress. */
export async function runWave(world: World, wave: Wave): Promise<FinishedWave> {
  await world.begin(wave);
  const happened: WaveFailures = { violations: [], settledSuspended: 0 };
  const lanes: Lane[] = [];
  const firstNumber = world.waves * wave.schedules.length * NUMBERS_PER_LANE;
  for (const [index, schedule] of wave.schedules.entries()) {
    lanes.push(await openLane(world, schedule, firstNumber + index * NUMBERS_PER_LANE));
  }
  const running: Promise<void>[] = [];
  const shared: Shared = {
    world,
    submissions: 0,
    onSubmission: () => {
      for (const { run } of events.filter(({ after }) => after === shared.submissions)) {
        const event = run();
        event.catch(() => undefined); // reported once the lanes have ended
        running.push(event);
      }
    },
  };
  const events = eventsOf(shared, wave, lanes, happened);
  await allEnded(lanes.map((lane) => runLane(shared, lane)));
  await allEnded(running);
  await liftAll(world);
  await within('calls stay in the queue', async () => {
    return (await world.database.query('SELECT FROM queued_call')).length === 0;
  });
  const clientIds = lanes.map(({ client }) => client.id);
  const settle = async () => ({
    arrivals: await settleSandbox(world, wave.transferFault),
    intents: await settleProxies(world, clientIds),
  });
  const afterwards = { ...shared, onSubmission: () => undefined };
  const before = await settle();
  happened.violations.push(...(await checkEarlyRound(world)));
  await world.endQuiet();
  await showCurrent(world, wave);
  happened.violations.push(...(await settleByList(afterwards, lanes, before.intents)));
  await settle();
  world.upstream.passTime();
  await showCurrent(world, wave);
  await settleRest(world);
  const { intents, arrivals } = await settle();
  happened.violations.push(...(await settleByHand(afterwards, lanes, intents, arrivals)));
  await settle();
  const followed = await world.followUp();
  return { lanes, ...happened, followed, lost: world.lost, ...(await settle()) };
}

/** Lets bystanders pay without a fault. */
async function showCurrent(world: World, { transferFault }: Wave): Promise<void> {
  await world.upstream.setTransferFault(undefined);
  await bystandersPay(world);
  await world.upstream.setTransferFault(transferFault);
}

/** Waits for all, even if some fail, so that nothing is in progress when the wave ends. */
async function allEnded(running: Promise<void>[]): Promise<void> {
  await Promise.allSettled(running);
  await Promise.all(running);
}

async function liftAll(world: World): Promise<void> {
  const { stops } = await world.read('/v1/stops', world.keys.admin);
  for (const { id } of stops) await lift(world, 0, id);
}

/** Waits until the sandbox has executed everything, including late requests. */
async function settleSandbox(world: World, transferFault: TransferFault): Promise<Arrival[]> {
  let arrivals: Arrival[] = [];
  await within('the sandbox still has work', async () => {
    arrivals = await readArrivals(world);
    return !arrivals.some((arrival) => isUnfinished(arrival, transferFault));
  });
  return arrivals;
}

function isUnfinished(
  { fault, processed, answeredAt, paid }: Arrival,
  transferFault: TransferFault,
): boolean {
  if (processed || paid) return false;
  if (fault === 'delay' || fault === 'lateProcessing') return true;
  if (fault === 'resetBeforeProcessing') return false;
  if (fault === 'noResponse' && transferFault.fault === fault && transferFault.processed === false)
    return false;
  return answeredAt === null;
}

/** Waits until no call is in flight: of a live process until its outcome, of a dead one until its timeout. */
async function settleProxies(world: World, clientIds: string[]): Promise<Intent[]> {
  const longestSeconds = overAfterMs(loadConfig(ENVIRONMENT)) / 1_000;
  const isInFlight = (intent: Intent) =>
    intent.outcome === null &&
    isInDoubt(intent) &&
    (intent.alive || intent.secondsSinceRelease <= longestSeconds);
  let intents: Intent[] = [];
  await within('a call is still in flight', async () => {
    intents = await readIntents(world, clientIds);
    return !intents.some(isInFlight);
  });
  return intents;
}
