import { Injectable } from '@nestjs/common';
import { ClockService } from '../../platform/database/clock.service';
import { EpochService } from '../../platform/database/epoch.service';
import { HeartbeatService } from '../../platform/database/heartbeat.service';
import { FENCE_REASONS, FenceService } from '../../platform/fencing/fence.service';
import { MetricsService } from '../metrics/metrics.service';

/** Reports why this instance does not pay, when the database last confirmed a durable write, and how wrong the clock is. */
@Injectable()
export class FenceMetrics {
  constructor(
    fence: FenceService,
    heartbeat: HeartbeatService,
    clocks: ClockService,
    epoch: EpochService,
    metrics: MetricsService,
  ) {
    metrics.watch(
      'payout_proxy_fenced',
      '1 if this instance does not pay or write for the reason, otherwise 0. GET /readyz says what was seen.',
      () => {
        const raised = new Set(fence.reasons.map(({ reason }) => reason));
        return FENCE_REASONS.map((reason) => ({ labels: { reason }, value: raised.has(reason) ? 1 : 0 }));
      },
      ['reason'],
    );
    metrics.watch(
      'payout_proxy_durable_write_age_seconds',
      'Time since the database last confirmed a durable write. One is made every second.',
      () => heartbeat.age / 1_000,
    );
    metrics.watch(
      'payout_proxy_clock_skew_seconds',
      "The database's clock minus that of this process. Past MAX_CLOCK_SKEW_SECONDS the instance does not pay. NaN before the first comparison.",
      () => clocks.skewSeconds ?? NaN,
    );
    metrics.watch(
      'payout_proxy_epoch_file_failing',
      '1 if DATA_DIR/epoch.json cannot be written, otherwise 0. After a restart, an old database may then go unnoticed.',
      () => (epoch.isFileFailing ? 1 : 0),
    );
  }
}
