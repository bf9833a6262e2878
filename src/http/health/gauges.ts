import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { ClockService } from '../../continuity/fence/clock.service';
import { EpochService } from '../../continuity/fence/epoch.service';
import { FENCE_REASONS, FenceService } from '../../continuity/fence/fence.service';
import { HeartbeatService } from '../../continuity/heartbeat/heartbeat.service';
import { SpaceService } from '../../continuity/space/space.service';
import { ReplicaService } from '../../platform/database/pools/replica.service';
import { waitAtMost } from '../../platform/database/pools/timeouts';
import { HeldJobsService } from '../../platform/jobs/held-jobs.service';
import { JOB_NAMES } from '../../platform/jobs/job';
import { CAUSES, STORAGE_LOCATIONS, REMEDIES } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';
import { MetricsService } from '../metrics/metrics.service';

/** Reports why this instance does not pay, the last durable write, and the clock's error. */
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
      '1 if this instance does not pay or write for the reason, otherwise 0. GET /readyz has the details.',
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
      "The database's clock minus that of this process. Past MAX_CLOCK_SKEW_SECONDS the instance does " +
        'not pay. NaN before the first comparison.',
      () => clocks.skewSeconds ?? NaN,
    );
    metrics.watch(
      'payout_proxy_epoch_file_failing',
      '1 if DATA_DIR/epoch.json cannot be written, otherwise 0. After a restart, an old database may ' +
        'then go unnoticed.',
      () => (epoch.isFileFailing ? 1 : 0),
    );
  }
}

const ALL = STORAGE_LOCATIONS.flatMap((place) =>
  CAUSES.filter((cause) => cause in REMEDIES[place]).map((cause) => ({ place, cause })),
);

/** Reports why the database or DATA_DIR takes no writes, and how much space they have. */
@Injectable()
export class StorageMetrics {
  constructor(storage: StorageService, space: SpaceService, metrics: MetricsService) {
    metrics.watch(
      'payout_proxy_storage_failing',
      '1 while the database or DATA_DIR takes no writes for the cause, otherwise 0. GET /readyz has the ' +
        'remedy.',
      () => ALL.map((labels) => ({ labels, value: storage.has(labels.place, labels.cause) ? 1 : 0 })),
      ['place', 'cause'],
    );
    new Counter({
      name: 'payout_proxy_storage_failures_total',
      help:
        'Statements, heartbeats and files that failed because the database or DATA_DIR cannot do its ' +
        'work, by cause.',
      labelNames: ['place', 'cause'],
      registers: [metrics.registry],
      collect() {
        this.reset();
        for (const labels of ALL) this.inc(labels, 0);
        for (const { place, cause, count } of storage.counts) this.inc({ place, cause }, count);
      },
    });
    metrics.watch(
      'payout_proxy_free_bytes',
      'Free space of the disk of DATA_DIR, and of the embedded Postgres. Below MIN_FREE_SPACE_MB ' +
        'nothing is admitted.',
      () => space.freeBytes.map(({ place, bytes }) => ({ labels: { place }, value: bytes })),
      ['place'],
    );
    metrics.watch(
      'payout_proxy_space_reserve_bytes',
      'Space that the database keeps for outcomes (DATABASE_RESERVE_MB). 0 after its disk was full. ' +
        'Absent without a reserve.',
      () => space.reserveBytes,
    );
  }
}

/** Time limit for the database. The metrics are available without it. */
const TIMEOUT_MS = 1_000;

/** Reports which background jobs have a worker. */
@Injectable()
export class JobMetrics {
  constructor(heldJobs: HeldJobsService, metrics: MetricsService) {
    metrics.watch(
      'payout_proxy_job_held',
      '1 if a worker holds the background job, 0 if none does. Absent while the database does not answer.',
      async () => {
        const reading = heldJobs.read().catch(() => undefined);
        const held = await waitAtMost(reading, TIMEOUT_MS);
        return held && JOB_NAMES.map((job) => ({ labels: { job }, value: held.has(job) ? 1 : 0 }));
      },
      ['job'],
    );
  }
}

/** Reports the source of history reads, and the lag of the replica. */
@Injectable()
export class ReplicaMetrics {
  constructor(replica: ReplicaService, metrics: MetricsService) {
    metrics.watch(
      'payout_proxy_history_reads',
      'Reads of the history since the start, by the server that answered them: the primary, or the ' +
        'replica of DATABASE_REPLICA_URL.',
      () => Object.entries(replica.reads).map(([server, value]) => ({ labels: { server }, value })),
      ['server'],
    );
    metrics.watch(
      'payout_proxy_replica_lag_seconds',
      'Time since the last commit that the replica has replayed. NaN without a replica, and while it ' +
        'does not answer.',
      async () => (await replica.lag()) ?? NaN,
    );
  }
}
