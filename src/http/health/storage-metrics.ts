import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { SpaceService } from '../../platform/database/space.service';
import { CAUSES, PLACES, REMEDIES } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';
import { MetricsService } from '../metrics/metrics.service';

const ALL = PLACES.flatMap((place) =>
  CAUSES.filter((cause) => cause in REMEDIES[place]).map((cause) => ({ place, cause })),
);

/** Reports why the database or DATA_DIR takes no writes, and how much space they have. */
@Injectable()
export class StorageMetrics {
  constructor(storage: StorageService, space: SpaceService, metrics: MetricsService) {
    metrics.watch(
      'payout_proxy_storage_failing',
      '1 while the database or DATA_DIR takes no writes for the cause, otherwise 0. GET /readyz says what to do.',
      () => ALL.map((labels) => ({ labels, value: storage.has(labels.place, labels.cause) ? 1 : 0 })),
      ['place', 'cause'],
    );
    new Counter({
      name: 'payout_proxy_storage_failures_total',
      help: 'Statements, heartbeats and files that failed because the database or DATA_DIR cannot do its work, by cause.',
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
      'Free space of the disk of DATA_DIR, and of the embedded Postgres. Below MIN_FREE_SPACE_MB nothing is admitted.',
      () => space.freeBytes.map(({ place, bytes }) => ({ labels: { place }, value: bytes })),
      ['place'],
    );
    metrics.watch(
      'payout_proxy_space_reserve_bytes',
      'Space that the database keeps for outcomes (DATABASE_RESERVE_MB). 0 after its disk was full. Absent without a reserve.',
      () => space.reserveBytes,
    );
  }
}
