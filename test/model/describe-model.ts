import fc from 'fast-check';
import { EventCounts } from './checks/event-counts';
import { Inconclusive } from './checks/inconclusive';
import { check } from './checks/invariants';
import { LANES, Schedule, Wave, wave } from './schedule';
import { runWave, FinishedWave } from './wave';
import { World } from './world';

const STARTING_MS = 300_000; // a start may need retries on a busy machine
/** Enough schedules for every expected event. 200 sometimes miss one. */
const ENOUGH_SCHEDULES = 1_000;

/** The list of the upstream grows with each wave. */
const WAVES_PER_WORLD = 20;

const MS_PER_SCHEDULE = 10_000; // some thirty times the normal duration

interface ModelSettings {
  /** Number of schedules. */
  schedules: number;
  seed: number;
  /** Path of a reported failure, to run only the failed wave. */
  path?: string | undefined;
}

/** Describes a model of apps, operators and failures, with invariants that hold after every schedule. */
export function describeModel({ schedules, seed, path }: ModelSettings): void {
  /** Whether the schedules may contain every event. */
  const isWhole = path === undefined && process.env.MODEL_DISASTER === undefined;

  describe('any schedule of faults, kills, retries, duplicates, restarts, approvals, queues, stops', () => {
    let world: World;

    beforeAll(async () => {
      world = await startWorld();
    }, STARTING_MS);
    afterAll(() => (world as World | undefined)?.close());

    const startOver = async () => {
      await world.close();
      world = await startWorld();
    };

    /** Runs a wave. Repeats it in a new world after an inconclusive first run. */
    const run = async (each: Wave): Promise<FinishedWave> => {
      if (world.waves === WAVES_PER_WORLD) await startOver();
      try {
        return await runWave(world, each);
      } catch (error) {
        noteInconclusive(error);
        await startOver();
        return runWave(world, each);
      }
    };

    it(
      `pays nothing twice, overspends no cap and lists every unknown outcome (${schedules} schedules)`,
      async () => {
        const sights = new EventCounts();
        const runs = path === undefined ? Math.ceil(schedules / LANES) : 1;
        const result = await fc.check(
          fc.asyncProperty(wave, async (each) => {
            const settled = await run(each);
            sights.note(settled);
            if (process.env.MODEL_SCHEDULES) process.stdout.write(`${sights.toString()}\n`);
            const wrong = await check(world, settled);
            if (wrong.size > 0) throw new Error(describeFailure(each, wrong));
          }),
          // No shrinking: a wave depends on the interleaving of its schedules, and mostly passes next time.
          { numRuns: runs, seed, endOnFailure: true, ...(path !== undefined && { path }) },
        );
        if (result.failed) {
          const hint = `MODEL_SEED=${result.seed} MODEL_PATH=${result.counterexamplePath} repeats this wave`;
          throw new Error(`after ${sights.schedules} schedules; ${hint}\n${String(result.errorInstance)}`);
        }
        if (isWhole && schedules >= ENOUGH_SCHEDULES) expect(sights.missing()).toEqual([]);
      },
      60_000 + schedules * MS_PER_SCHEDULE,
    );
  });
}

/** Starts a world. Tries again after an inconclusive first start. */
async function startWorld(): Promise<World> {
  return World.start().catch((error: unknown) => {
    noteInconclusive(error);
    return World.start();
  });
}

function noteInconclusive(error: unknown): void {
  if (!(error instanceof Inconclusive)) throw error;
  process.stdout.write(`inconclusive: ${error.message}; it runs again\n`);
}

function describeFailure({ schedules, ...rest }: Wave, wrong: Map<number, string[]>): string {
  const parts = [...wrong].map(([index, faults]) => {
    const schedule: Schedule | undefined = schedules[index];
    return `${faults.join('\n')}\n${schedule ? `in schedule ${index}: ${JSON.stringify(schedule)}` : ''}`;
  });
  return `${parts.join('\n')}\nwith ${JSON.stringify(rest)}`;
}
