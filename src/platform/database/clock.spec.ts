import fc from 'fast-check';
import { DatabaseClock } from './clock';

const DAY_MS = 86_400_000;

/** The steps of the boot time at the creation and at the last reading of the clock. */
const STEPS_MS = 20;

/** A machine and a database with clocks that can be set, put to sleep, and compared. */
class ClockedMachine {
  databaseMs = Date.UTC(2026, 10, 20, 12);
  private monotonicMs = 5_000;
  private bootMs = 60_000;
  private wallMs = this.databaseMs;
  readonly clock = new DatabaseClock({
    monotonic: () => this.monotonicMs,
    boot: () => Math.floor(this.bootMs / 10) * 10,
    wall: () => this.wallMs,
  });

  /** @param pace how fast the clocks of this machine run. */
  constructor(private readonly pace = 1) {}

  pass(ms: number): void {
    this.databaseMs += ms;
    this.monotonicMs += ms * this.pace;
    this.bootMs += ms * this.pace;
    this.wallMs += ms * this.pace;
  }

  sleep(ms: number): void {
    this.databaseMs += ms;
    this.bootMs += ms;
    this.wallMs += ms;
  }

  setWall(byMs: number): void {
    this.wallMs += byMs;
  }

  setDatabase(byMs: number): void {
    this.databaseMs += byMs;
  }

  /**
   * @param before how long the statement takes to arrive. @param after how long its commit takes to return.
   */
  beat(before: number, after: number): void {
    this.pass(before);
    const { databaseMs } = this;
    this.pass(after);
    this.clock.observe(databaseMs, (before + after) * this.pace);
  }

  /** The error of the clock. */
  get wrongMs(): number {
    return Math.abs(this.clock.nowMs() - this.databaseMs);
  }
}

describe('the clock that shows the database’s time', () => {
  it('stands still instead of going back a little when a better comparison comes', () => {
    const world = new ClockedMachine();
    world.beat(100, 0); // shows 50 ms too much
    const before = world.clock.nowMs();
    world.pass(10);
    world.beat(2, 0);
    expect(world.clock.nowMs()).toBe(before);
    expect(world.wrongMs).toBeLessThanOrEqual(world.clock.errorMs);
    world.pass(100);
    expect(world.clock.nowMs()).toBeGreaterThan(before);
    expect(world.wrongMs).toBeLessThanOrEqual(2);
  });

  it('shows the wall clock until it is compared', () => {
    const world = new ClockedMachine();
    world.setWall(DAY_MS);
    expect([world.clock.isCompared, world.wrongMs, world.clock.errorMs]).toEqual([false, DAY_MS, Infinity]);
  });

  it.each([DAY_MS, -DAY_MS])('follows the database where the wall clock is set by %d ms', (ms) => {
    const world = new ClockedMachine();
    world.beat(2, 2);
    world.setWall(ms);
    world.pass(900);
    expect(world.wrongMs).toBeLessThan(5);
    expect(Math.round(world.clock.skewMs)).toBe(-ms);
  });

  it('runs on while the machine sleeps', () => {
    const world = new ClockedMachine();
    world.beat(2, 2);
    world.sleep(DAY_MS);
    expect(world.wrongMs).toBeLessThan(STEPS_MS);
    world.setWall(-2 * DAY_MS);
    world.sleep(DAY_MS);
    expect(world.wrongMs).toBeLessThan(STEPS_MS);
  });

  it('prefers a quick comparison to a slow one, and one that contradicts it to both', () => {
    const world = new ClockedMachine();
    world.beat(1, 1);
    world.beat(1, 14_000);
    expect(world.wrongMs).toBeLessThan(1);
    world.setDatabase(60_000);
    world.beat(1, 14_000);
    expect(world.wrongMs).toBeLessThan(7_001);
    world.beat(1, 1);
    expect(world.wrongMs).toBeLessThan(1);
  });

  it('tells the day of the database', () => {
    const world = new ClockedMachine();
    world.setWall(DAY_MS);
    world.beat(1, 1);
    expect([world.clock.today(), world.clock.daysAgo(1)]).toEqual(['2026-11-20', '2026-11-19']);
  });

  it('is never more wrong than it says', () => {
    const delay = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 7_000 }));
    const jump = fc.integer({ min: 60_000, max: 2 * DAY_MS }).chain((ms) => fc.constantFrom(ms, -ms));
    const event = fc.oneof(
      fc.tuple(delay, delay).map(
        ([before, after]) =>
          (world: ClockedMachine) =>
            world.beat(before, after),
      ),
      fc.integer({ min: 0, max: 100_000 }).map((ms) => (world: ClockedMachine) => world.pass(ms)),
      fc.integer({ min: 0, max: DAY_MS }).map((ms) => (world: ClockedMachine) => world.sleep(ms)),
      jump.map((ms) => (world: ClockedMachine) => world.setWall(ms)),
      // The next comparison detects it.
      fc.tuple(jump, delay, delay).map(([ms, before, after]) => (world: ClockedMachine) => {
        world.setDatabase(ms);
        world.beat(before, after);
        expect(world.clock.errorMs).toBeLessThanOrEqual((before + after) / 2 + 8);
      }),
    );
    const pace = fc.double({ min: 0.9995, max: 1.0005, noNaN: true });
    fc.assert(
      fc.property(pace, fc.array(event, { maxLength: 30 }), (speed, events) => {
        const world = new ClockedMachine(speed);
        world.beat(1, 1);
        for (const happens of events) {
          happens(world);
          expect(world.wrongMs).toBeLessThanOrEqual(world.clock.errorMs + STEPS_MS + 1);
        }
      }),
      { numRuns: 500 },
    );
  });
});
