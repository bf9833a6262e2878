import { within } from './checks/inconclusive';
import { listCalls } from './checks/lists';
import { Disaster, Loss } from './disaster';
import { decide, Lane, Shared, submit } from './lane';
import { lose } from './loss';
import { Wave } from './schedule';
import { suspend } from './suspension';
import { World } from './world';

/** Results of a wave's failures. */
export interface WaveFailures {
  /** Errors found during the wave. */
  violations: string[];
  /** Number of calls settled while their proxy was suspended. */
  settledSuspended: number;
}

/** An event that begins with a submission, and runs concurrently with the schedules. */
export interface Event {
  /** Number of submissions since the beginning of the wave. */
  after: number;
  run: () => Promise<void>;
}

/** Returns the failures of a wave: killed and suspended proxies, a changed clock, and an old database. */
export function eventsOf(shared: Shared, wave: Wave, lanes: Lane[], happened: WaveFailures): Event[] {
  const { world } = shared;
  const { clocks, disaster } = wave;
  return [
    ...(clocks.step ? [clockStep(world, clocks.step)] : []),
    ...disasterEvents(shared, disaster, lanes, happened),
    // A killed process loses the outcomes it had not copied, so a restore is never combined with a kill.
    ...(disaster.kind === 'loss' ? [] : wave.kills).map(({ victim, afterSubmissions }) => ({
      after: afterSubmissions,
      run: () => world.proxies.killAndRestart(victim, () => checkDoubts(world, happened.violations)),
    })),
  ];
}

function clockStep(world: World, step: NonNullable<Wave['clocks']['step']>): Event {
  // A proxy killed or suspended just then never shows the change, so this does not wait.
  const run = () =>
    Promise.resolve(void world.proxies.setClock(step.victim, step.aheadMs).catch(() => undefined));
  return { after: step.afterSubmissions, run };
}

function disasterEvents(shared: Shared, disaster: Disaster, lanes: Lane[], happened: WaveFailures): Event[] {
  const { world } = shared;
  if (disaster.kind === 'none') return [];
  const { afterSubmissions: after } = disaster;
  if (disaster.kind === 'suspension') {
    const run = async () => {
      const { faults, settled } = await suspend(shared, lanes, disaster);
      happened.violations.push(...faults);
      happened.settledSuspended += settled;
    };
    return [{ after, run }];
  }
  let copied: Promise<void>;
  return [
    { after, run: () => (copied = world.database.copy()) },
    {
      after: after + disaster.lostSubmissions,
      run: () => copied.then(() => loseAndSendAgain(shared, disaster, lanes)),
    },
  ];
}

/** Restores the database. Apps resend all lost calls with their keys, and approvers decide pending ones. */
async function loseAndSendAgain(shared: Shared, { restarts }: Loss, lanes: Lane[]): Promise<void> {
  const { world } = shared;
  await lose(world, restarts);
  const lost = new Set(world.lost?.calls.values());
  await Promise.all(
    lanes.flatMap((lane) =>
      [...lane.requests.keys()]
        .filter((number) => lost.has(number))
        .map((number) => sendAgain(shared, lane, number)),
    ),
  );
}

async function sendAgain(shared: Shared, lane: Lane, number: number): Promise<void> {
  const response = await submit(shared, lane, {
    number,
    submission: { process: number % 2, concurrent: false, queued: false },
  });
  if (response?.status === 202 && response.headers.has('idempotent-replayed'))
    await decide(shared.world, lane, number, response);
}

/** Checks that, while a process is gone, the other lists all its open calls. */
async function checkDoubts(world: World, violations: string[]): Promise<void> {
  const gone = async () =>
    await world.database.query<{ id: string }>(
      `SELECT i.id FROM intent i LEFT JOIN decision d ON d.intent_id = i.id
       WHERE NOT EXISTS (SELECT FROM outcome WHERE intent_id = i.id)
         AND NOT EXISTS (SELECT FROM refusal r WHERE r.id = i.id)
         AND NOT EXISTS (SELECT FROM settlement s WHERE s.intent_id = i.id)
         AND (i.expires_at IS NULL OR d.kind IN ('approved', 'released'))
         AND coalesce(d.process, i.process) NOT IN (SELECT live_processes())`,
    );
  await within('the database still counts a killed process as live', async () => {
    const live = await world.database.query('SELECT live_processes()');
    return live.length <= world.proxies.seen;
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
