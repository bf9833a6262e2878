import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { copiesFolder } from '../../src/journal/copies/local-copies';
import { restoreFromCopies } from '../../src/journal/recovery/recovery';
import { beginEpoch } from '../../src/journal/stops/recovery-gap';
import { RunningConfig, SETTINGS } from '../../src/platform/config/config';
import { PrismaService } from '../../src/platform/database/pools/prisma.service';
import { eventually } from '../support/payments/paying';
import { within } from './checks/inconclusive';
import { lift } from './lane';
import { World } from './world';

/** Losses of a database in a wave. */
export interface DatabaseLoss {
  /** Calls with a missing record, with the numbers of their requests. */
  calls: Map<string, number>;
  /** Time of the restore. Answers before it may be missing. */
  at: number;
  /** Whether an instance noticed a loss. */
  noticed: boolean;
}

/** Longer than the intervals of copies and heartbeats, so everything is written. */
const QUIET_MS = 2_500;

/** Processes with a heartbeat: two proxies and a worker. */
const INSTANCES = 3;

/** Restores the database to its copy. After a noticed loss, it is recovered, and a person lifts the stop. */
export async function lose(world: World, restarts: boolean): Promise<void> {
  const lost = await world.database.putBack();
  const calls = new Map(lost.map(({ id, number }) => [id, number]));
  world.lost = { calls, at: world.now(), noticed: false };
  world.requestedStops.push({ clientId: null, operation: null });
  await forgetLostStops(world);
  if (!(await isNoticed(world))) return;
  world.lost.noticed = true;
  const recover = () => recoverFrom(world);
  if (restarts) {
    await world.proxies.restartAll(recover);
  } else {
    await copiesAreWritten(world.proxies.dataDirs);
    await recover();
  }
  await liftStop(world);
}

/** Forgets stops that were set after the copy. */
async function forgetLostStops(world: World): Promise<void> {
  const rows = await world.database.query<{ id: string }>('SELECT id::text FROM stop');
  const ids = new Set(rows.map(({ id }) => id));
  world.stops.splice(0, world.stops.length, ...world.stops.filter(({ id }) => ids.has(id)));
}

/** Waits until an instance has stopped everything, or every instance has found no loss. */
async function isNoticed(world: World): Promise<boolean> {
  const beats = async () => {
    const rows = await world.database.query<{ id: string; beat: string }>(
      'SELECT id::text, beat::text FROM instance',
    );
    return new Map(rows.map(({ id, beat }) => [id, Number(beat)]));
  };
  const before = await beats();
  let noticed = false;
  // Independent of timeouts: heartbeats come each second.
  await eventually(async () => {
    const stops = await world.database.query(`SELECT FROM stop WHERE cause = 'database_behind'
      AND epoch = (SELECT max(number) FROM epoch) AND id NOT IN (SELECT stop_id FROM stop_lift)`);
    noticed = stops.length > 0;
    const beating = [...(await beats())].filter(([id, beat]) => beat >= (before.get(id) ?? 0) + 2);
    return noticed || beating.length >= INSTANCES;
  });
  return noticed;
}

/** Runs the steps of `database recover` twice, because it may be repeated. */
async function recoverFrom({ worker, proxies, database }: World): Promise<void> {
  const prisma = worker.get(PrismaService);
  const settings = worker.get<RunningConfig>(SETTINGS);
  await within('the worker does not connect again', () =>
    prisma.$queryRaw`SELECT 1`.then(Boolean, () => false),
  ); // its connections have ended
  // Reservations return before their releases, so the count may exceed a cap briefly. Nothing is paid then.
  await database.query('ALTER TABLE spending DISABLE TRIGGER note_overspent');
  await restoreFromCopies(prisma, proxies.dataDirs, settings);
  await restoreFromCopies(prisma, proxies.dataDirs, settings);
  await database.query('ALTER TABLE spending ENABLE TRIGGER note_overspent');
  await beginEpoch(prisma, { reason: 'requested by the schedule', actor: null, seen: 0 });
}

/** Waits until the copies of all proxies no longer change. */
async function copiesAreWritten(dataDirs: string[]): Promise<void> {
  const sizes = () => JSON.stringify(dataDirs.map((dir) => sizesIn(copiesFolder(dir))));
  for (let before = ''; before !== sizes();) {
    before = sizes();
    await sleep(QUIET_MS);
  }
}

/** Returns the sizes of copies. A proxy without admitted calls has no folder of copies yet. */
function sizesIn(folder: string): number[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => statSync(join(folder, name)).size);
}

/** Lifts the stop once an instance accepts it, which must know the new epoch. */
async function liftStop(world: World): Promise<void> {
  await within('the stop of an old database cannot be lifted', async () => {
    const { stops } = await world.read('/v1/stops', world.keys.admin);
    const ours = stops.filter(({ cause }) => cause === 'database_behind');
    for (const { id } of ours) await lift(world, 0, id);
    return ours.length === 0;
  });
}
