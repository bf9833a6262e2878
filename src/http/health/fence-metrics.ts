import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { HeartbeatService } from '../../platform/database/heartbeat.service';
import { FENCE_REASONS, FenceService } from '../../platform/fencing/fence.service';
import { MetricsService } from '../metrics/metrics.service';

/** Reports why this instance does not pay, and when the database last confirmed a durable write. */
@Injectable()
export class FenceMetrics {
  constructor(fence: FenceService, heartbeat: HeartbeatService, { registry }: MetricsService) {
    new Gauge({
      name: 'payout_proxy_fenced',
      help: '1 if this instance does not pay or write for the reason, otherwise 0. GET /readyz says what was seen.',
      labelNames: ['reason'],
      registers: [registry],
      collect() {
        const raised = new Set(fence.reasons.map(({ reason }) => reason));
        for (const reason of FENCE_REASONS) this.set({ reason }, raised.has(reason) ? 1 : 0);
      },
    });
    new Gauge({
      name: 'payout_proxy_durable_write_age_seconds',
      help: 'Time since the database last confirmed a durable write. One is made every second.',
      registers: [registry],
      collect() {
        this.set(heartbeat.age / 1_000);
      },
    });
  }
}
