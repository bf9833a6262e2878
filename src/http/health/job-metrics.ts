import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { HeldJobsService } from '../../platform/jobs/held-jobs.service';
import { JOB_NAMES } from '../../platform/jobs/job';
import { MetricsService } from '../metrics/metrics.service';

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
        const held = await heldJobs.read().catch(() => undefined);
        this.reset();
        if (held) for (const job of JOB_NAMES) this.set({ job }, held.has(job) ? 1 : 0);
      },
    });
  }
}
