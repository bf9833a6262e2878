import { eventually } from '../support/paying';
import { Inconclusive } from './inconclusive';
import { Lane, lift, openLane, runLane, Shared } from './lane';
import { Arrival, Intent, isInDoubt, readArrivals, readIntents } from './records';
import { TransferFault, Wave } from './schedule';
import { settleByHand } from './settle-by-hand';
import { settleByList } from './settle-by-list';
import { World } from './world';

/** The state when everything that was begun has ended. */
export interface Settled {
  lanes: Lane[];
  intents: Intent[];
  arrivals: Arrival[];
  /** The errors found earlier. */
  violations: string[];
  /** How many calls the follow-up settled. */
  followed: number;
}

const SETTLING_MS = 20_000; // far longer than anything here takes: past it, something hangs

/** More steps than a schedule has. */
const NUMBERS_PER_LANE = 100;

/** Runs schedules concurrently, kills processes meanwhile, and waits until nothing is in progress. */
export async function runWave(world: World, wave: Wave): Promise<Settled> {
  await world.reset(wave);
  const violations: string[] = [];
  const kills: Promise<void>[] = [];
  let submissions = 0;
  const killAndLook = (victim: number) => {
    const kill = world.killAndRestart(victim, () => checkDoubts(world, violations));
    kill.catch(() => undefined); // it is heard of once the lanes have ended
    return kill;
  };
  const shared: Shared = {
    world,
    onSubmission: () => {
      submissions += 1;
      const due = wave.kills.filter(({ afterSubmissions }) => afterSubmissions === submissions);
      for (const { victim } of due) kills.push(killAndLook(victim));
    },
  };
  const lanes: Lane[] = [];
  for (const [index, schedule] of wave.schedules.entries()) {
    lanes.push(await openLane(world, schedule, 1 + index * NUMBERS_PER_LANE));
  }
  await allEnded(lanes.map((lane) => runLane(shared, lane)));
  await allEnded(kills);
  await liftAll(world);
  const clientIds = lanes.map(({ client }) => client.id);
  const settle = async () => ({
    arrivals: await settleSandbox(world, wave.transferFault),
    intents: await settleProxies(world, clientIds),
  });
  const afterwards = { ...shared, onSubmission: () => undefined };
  const before = await settle();
  violations.push(...(await settleByList(afterwards, lanes, before.intents)));
  const { intents, arrivals } = await settle();
  violations.push(...(await settleByHand(afterwards, lanes, intents, arrivals)));
  await settle();
  const followed = await world.followUp();
  return { lanes, violations, followed, ...(await settle()) };
}

/** Waits for all, even if some fail, so that nothing is in progress when the wave ends. */
async function allEnded(running: Promise<void>[]): Promise<void> {
  await Promise.allSettled(running);
  await Promise.all(running);
}

/** While a process is gone, the other one lists everything that it left behind. */
async function checkDoubts(world: World, violations: string[]): Promise<void> {
  const gone = async () =>
    await world.database.query<{ id: string }>(
      `SELECT i.id FROM intent i LEFT JOIN decision d ON d.intent_id = i.id
       WHERE NOT EXISTS (SELECT FROM outcome WHERE intent_id = i.id) AND NOT EXISTS (SELECT FROM refusal r WHERE r.id = i.id)
         AND NOT EXISTS (SELECT FROM settlement s WHERE s.intent_id = i.id)
         AND (i.held_for IS NULL OR d.kind = 'approved')
         AND coalesce(d.process, i.process) NOT IN (SELECT live_processes())`,
    );
  await within(SETTLING_MS, 'the database still takes a killed process for alive', async () => {
    const live = await world.database.query('SELECT live_processes()');
    return live.length <= world.running;
  });
  const before = await gone();
  const listed = await listCalls(world, 'outcome=unknown');
  // A database that was committing for the process continues for a moment.
  const after = new Set((await gone()).map(({ id }) => id));
  for (const { id } of before) {
    if (after.has(id) && !listed.has(id))
      violations.push(`${id} was not listed as in doubt while its process was gone`);
  }
}

/** Returns the IDs of all calls that an auditor finds. */
export async function listCalls(world: World, search: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let token: string | null = ''; token !== null;) {
    const paging: string = `page_size=200${token && `&page_token=${token}`}`;
    const page = await world.read(`/v1/audit/calls?${search}&${paging}`, world.keys.auditor);
    for (const { id } of page.calls) ids.add(id);
    token = page.next_page_token;
  }
  return ids;
}

async function liftAll(world: World): Promise<void> {
  const { stops } = await world.read('/v1/stops', world.keys.admin);
  for (const { id } of stops) await lift(world, 0, id);
}

/** Waits until the sandbox has carried out everything, including late requests. */
async function settleSandbox(world: World, transferFault: TransferFault): Promise<Arrival[]> {
  let arrivals: Arrival[] = [];
  await within(SETTLING_MS, 'the sandbox still has something to do', async () => {
    arrivals = await readArrivals(world.sandbox);
    return !arrivals.some((arrival) => isUnfinished(arrival, transferFault));
  });
  return arrivals;
}

function isUnfinished({ fault, processed, answeredAt }: Arrival, transferFault: TransferFault): boolean {
  if (processed) return false;
  if (fault === 'delay' || fault === 'lateProcessing') return true;
  if (fault === 'resetBeforeProcessing') return false;
  if (fault === 'noResponse' && transferFault.fault === fault && transferFault.processed === false) return false;
  return answeredAt === null;
}

/** Waits until every call of a living process has an outcome. */
async function settleProxies(world: World, clientIds: string[]): Promise<Intent[]> {
  let intents: Intent[] = [];
  await within(SETTLING_MS, 'a process that lives still has a call in flight', async () => {
    intents = await readIntents(world.database, clientIds);
    return !intents.some((intent) => intent.outcome === null && intent.alive && isInDoubt(intent));
  });
  return intents;
}

/** @throws Inconclusive past the time. Slowness is no counterexample on a busy machine. */
async function within(ms: number, otherwise: string, done: () => Promise<boolean>): Promise<void> {
  await eventually(done, ms).catch((cause: unknown) => {
    throw new Inconclusive(otherwise, { cause });
  });
}
