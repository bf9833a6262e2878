import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { HeldJobsService } from '../../platform/jobs/held-jobs.service';
import { JOB_NAMES } from '../../platform/jobs/job';
import { MetricsService } from '../metrics/metrics.service';
import { waitAtMost } from '../../platform/database/patience';

/** The metrics are available without the database. */
const PATIENCE_MS = 1_000;

/** Reports which background jobs have a worker. */
@Injectable()
export class JobMetrics {
  constructor(heldJobs: HeldJobsService, { registry }: MetricsService) {
    new Gauge({
      name: 'payout_proxy_job_held',
      help: '1 if a worker holds the background job, 0 if none does. Absent while the database does not answer.',
      labelNames: ['job'],
      registers: [registry],
      async collect() {
        const reading = heldJobs.read().catch(() => undefined);
        const held = await waitAtMost(reading, PATIENCE_MS);
        this.reset();
        if (held) for (const job of JOB_NAMES) this.set({ job }, held.has(job) ? 1 : 0);
      },
    });
  }
}
