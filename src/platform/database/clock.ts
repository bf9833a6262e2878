import { uptime } from 'node:os';

/** Maximum drift of two clocks, as a share of the time. A kernel corrects a clock by 0.05 % at most. */
const MAX_DRIFT = 0.001;

/** The steps of os.uptime(). */
const BOOT_STEP_MS = 10;

/** Move of the wall clock against the monotonic clock after which it was set, or the machine slept. */
const JUMP_MS = 20;

/** A smaller step back pauses the clock instead, so that no answer precedes its request. */
const STEP_BACK_MS = 1_000;

const DAY_MS = 86_400_000;

/** The clocks of this machine, in milliseconds. See src/continuity/heartbeat/instant.ts. */
export interface LocalClocks {
  monotonic(): number;
  boot(): number;
  wall(): number;
}

const LOCAL: LocalClocks = {
  monotonic: performance.now.bind(performance),
  boot: () => uptime() * 1_000,
  wall: () => Date.now(),
};

/** A comparison with the database's clock. */
interface Sample {
  /** Database time minus running time. */
  offsetMs: number;
  /** Maximum error at the time of the comparison. */
  errorMs: number;
  /** Time of the comparison, in running time. */
  atMs: number;
}

/**
 * A clock that shows the database's time without querying it. Every durable write of the heartbeat compares
 * the two. In between, the clock advances by monotonic time plus the machine's sleep. A wrong or adjusted
 * wall clock has no effect.
 *
 * Deadlines, waits and ages use this clock, or the database's own in SQL.
 */
export class DatabaseClock {
  private best: Sample | undefined;
  /** The last shown time. */
  private shownMs = 0;
  private sleptMs = 0;
  /** Boot time minus monotonic time while the machine has not slept. Never too small. */
  private readonly awakeMs: number;
  /** Wall time minus monotonic time. */
  private wallOffsetMs: number;

  constructor(private readonly clocks: LocalClocks = LOCAL) {
    const monotonicMs = clocks.monotonic();
    this.awakeMs = clocks.boot() + BOOT_STEP_MS - monotonicMs;
    this.wallOffsetMs = clocks.wall() - monotonicMs;
  }

  /** Whether it was compared with the database. Before that, it shows this machine's wall clock. */
  get isCompared(): boolean {
    return this.best !== undefined;
  }

  /** The database's time. */
  now(): Date {
    return new Date(this.nowMs());
  }

  /** The database's time, in milliseconds since 1970. Only a clock that was set goes back. */
  nowMs(): number {
    const nowMs = this.estimateMs();
    const aheadMs = this.shownMs - nowMs;
    if (aheadMs > 0 && aheadMs < STEP_BACK_MS) return this.shownMs;
    this.shownMs = nowMs;
    return nowMs;
  }

  /** The database's day in UTC, such as `2026-11-20`. */
  today(): string {
    return this.daysAgo(0);
  }

  /** The UTC day a number of days before. */
  daysAgo(days: number): string {
    return new Date(this.nowMs() - days * DAY_MS).toISOString().slice(0, 10);
  }

  /** The database's time minus the wall clock of this machine, in milliseconds. */
  get skewMs(): number {
    return this.nowMs() - this.clocks.wall();
  }

  /** Maximum error of this clock, in ms. Infinite before the first comparison. */
  get errorMs(): number {
    if (!this.best) return Infinity;
    const aheadMs = this.nowMs() - this.estimateMs();
    return errorAfter(this.best, this.runningMs()) + aheadMs;
  }

  /**
   * Compares this clock with the database's.
   * @param databaseMs what the database's clock showed while a statement ran.
   * @param sinceSentMs the time since that statement was sent. It ran at some moment in between.
   */
  observe(databaseMs: number, sinceSentMs: number): void {
    const atMs = this.runningMs();
    const errorMs = Math.max(0, sinceSentMs) / 2;
    const sample: Sample = { offsetMs: databaseMs + errorMs - atMs, errorMs, atMs };
    if (!this.best || this.isBetter(sample, this.best)) this.best = sample;
  }

  private estimateMs(): number {
    return this.best ? this.runningMs() + this.best.offsetMs : this.clocks.wall();
  }

  /** Returns whether a comparison replaces the known one. A contradiction means that a clock has jumped. */
  private isBetter(sample: Sample, known: Sample): boolean {
    const knownErrorMs = errorAfter(known, sample.atMs);
    const isContradiction = Math.abs(sample.offsetMs - known.offsetMs) > sample.errorMs + knownErrorMs;
    return isContradiction || sample.errorMs <= knownErrorMs;
  }

  /** Monotonic time that also runs while the machine sleeps. */
  private runningMs(): number {
    const monotonicMs = this.clocks.monotonic();
    const wallOffsetMs = this.clocks.wall() - monotonicMs;
    if (Math.abs(wallOffsetMs - this.wallOffsetMs) > JUMP_MS) {
      // Reading the boot time takes a hundred times as long, so it is only read after a jump.
      this.wallOffsetMs = wallOffsetMs;
      this.measureSleep();
    }
    return monotonicMs + this.sleptMs;
  }

  /** Measures the machine's sleep. A process paused between the two readings must not look like sleep. */
  private measureSleep(): void {
    const bootMs = this.clocks.boot();
    this.sleptMs = Math.max(this.sleptMs, bootMs - this.clocks.monotonic() - this.awakeMs);
  }
}

function errorAfter({ errorMs, atMs }: Sample, nowMs: number): number {
  return errorMs + Math.max(0, nowMs - atMs) * MAX_DRIFT;
}

/** SQL: the database's time in milliseconds since 1970, for a process without a heartbeat. */
export const DATABASE_MS = 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms';

/** The database's time in this process. */
export const clock = new DatabaseClock();
