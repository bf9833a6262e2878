import { Inject, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { waitAtMost } from '../../platform/database/pools/timeouts';
import { Beat } from '../heartbeat/beat';
import { HeartbeatService } from '../heartbeat/heartbeat.service';
import { Instant, now } from '../heartbeat/instant';
import { FenceService } from './fence.service';

/** Above the milliseconds by which synchronized clocks differ. */
const WARN_MS = 1_000;

/** The boot time has steps of 10 ms. A smaller difference from the monotonic clock is not a sleep. */
const ASLEEP_MS = 20;

/** How long the start waits for the first comparison, in ms. */
const START_TIMEOUT_MS = 5_000;

const NOT_COMPARED =
  'The clock of this process has not been compared with the database, which confirms no durable write.';

/**
 * Compares the clock of this process with the database's, at the start and with every durable write. A larger
 * difference fences the instance. Decisions use the corrected clock (`clock`), so the fence is a second
 * guard: a machine with a wrong time is misconfigured, and its other programs and logs mislead.
 * See docs/internals/decisions/operation/0037-one-clock.md.
 */
@Injectable()
export class ClockService implements OnModuleInit {
  private readonly logger = new Logger('Clock');
  private readonly mostMs: number;
  private isCompared = false;
  private isWarned = false;
  private isFenced = false;

  constructor(
    private readonly heartbeat: HeartbeatService,
    private readonly fence: FenceService,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.mostMs = settings.maxClockSkewMs;
    heartbeat.observe((beat) => this.compare(beat));
  }

  /** The database's clock minus this process's, in seconds. Undefined before the first comparison. */
  get skewSeconds(): number | undefined {
    return this.isCompared ? clock.skewMs / 1_000 : undefined;
  }

  /** Without a comparison, the instance starts fenced. The next durable write lowers the fence. */
  async onModuleInit(): Promise<void> {
    if (!this.isCompared) await waitAtMost(this.heartbeat.beat(), START_TIMEOUT_MS);
    if (!this.isCompared) this.raise(NOT_COMPARED);
  }

  private compare({ databaseMs, sentAt }: Beat): void {
    clock.observe(databaseMs, sinceMs(sentAt));
    this.isCompared = true;
    const { skewMs, errorMs } = clock;
    // A slow write does not fence an instance whose clock is right.
    const certainMs = Math.abs(skewMs) - errorMs;
    this.warn(certainMs > WARN_MS, skewMs);
    if (certainMs > this.mostMs) this.raise(detailOf(skewMs, this.mostMs));
    else if (this.isFenced) this.lower();
  }

  private raise(detail: string): void {
    this.isFenced = true;
    this.fence.raise('clock_skewed', detail);
  }

  private lower(): void {
    this.isFenced = false;
    this.fence.lower('clock_skewed');
  }

  /** Logs once that the clock is wrong, and once that it is right again. */
  private warn(isWrong: boolean, skewMs: number): void {
    if (isWrong === this.isWarned) return;
    this.isWarned = isWrong;
    const skew = { skew_seconds: Math.round(skewMs) / 1_000 };
    if (isWrong)
      this.logger.warn(skew, 'the clock of this process differs from the database, synchronize both');
    else this.logger.log(skew, 'the clock of this process agrees with the database again');
  }
}

/** Returns the time since an instant, without the wall clock, which is being measured. */
function sinceMs({ monotonicMs, bootMs }: Instant): number {
  const { monotonicMs: toMonotonicMs, bootMs: toBootMs } = now();
  const [awakeMs, allMs] = [toMonotonicMs - monotonicMs, toBootMs - bootMs];
  return allMs > awakeMs + ASLEEP_MS ? allMs : awakeMs;
}

function detailOf(skewMs: number, mostMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const where = skewMs > 0 ? 'behind' : 'ahead of';
  return (
    `The clock of this process is ${seconds} s ${where} the database's. At most ${mostMs / 1_000} s are ` +
    'allowed (MAX_CLOCK_SKEW_SECONDS). Synchronize both with NTP. The instance pays again within a second ' +
    'after that.'
  );
}
