import { Injectable } from '@nestjs/common';
import { HeldJobsService } from '../../platform/jobs/held-jobs.service';
import { JOB_NAMES } from '../../platform/jobs/job';
import { MetricsService } from '../metrics/metrics.service';
import { waitAtMost } from '../../platform/database/patience';

/** The metrics are available without the database. */
const PATIENCE_MS = 1_000;

/** Reports which background jobs have a worker. */
@Injectable()
export class JobMetrics {
  constructor(heldJobs: HeldJobsService, metrics: MetricsService) {
    metrics.watch(
      'payout_proxy_job_held',
      '1 if a worker holds the background job, 0 if none does. Absent while the database does not answer.',
      async () => {
        const reading = heldJobs.read().catch(() => undefined);
        const held = await waitAtMost(reading, PATIENCE_MS);
        return held && JOB_NAMES.map((job) => ({ labels: { job }, value: held.has(job) ? 1 : 0 }));
      },
      ['job'],
    );
  }
}
