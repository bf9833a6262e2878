import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { SpaceService } from '../../platform/database/space.service';
import { PLACES, REMEDIES } from '../../platform/storage/failures';
import { StorageService } from '../../platform/storage/storage.service';
import { MetricsService } from '../metrics/metrics.service';

const ALL = PLACES.flatMap((place) => Object.keys(REMEDIES[place]).map((cause) => ({ place, cause })));

/** Reports why the database or DATA_DIR takes no writes, and how much space they have. */
@Injectable()
export class StorageMetrics {
  constructor(storage: StorageService, space: SpaceService, { registry }: MetricsService) {
    new Gauge({
      name: 'payout_proxy_storage_failing',
      help: '1 while the database or DATA_DIR takes no writes for the cause, otherwise 0. GET /readyz says what to do.',
      labelNames: ['place', 'cause'],
      registers: [registry],
      collect() {
        const raised = storage.troubles.map(({ place, cause }) => `${place} ${cause}`);
        for (const labels of ALL) this.set(labels, raised.includes(`${labels.place} ${labels.cause}`) ? 1 : 0);
      },
    });
    new Counter({
      name: 'payout_proxy_storage_failures_total',
      help: 'Statements, heartbeats and files that failed because the database or DATA_DIR cannot do its work, by cause.',
      labelNames: ['place', 'cause'],
      registers: [registry],
      collect() {
        this.reset();
        for (const labels of ALL) this.inc(labels, 0);
        for (const { place, cause, count } of storage.counts) this.inc({ place, cause }, count);
      },
    });
    new Gauge({
      name: 'payout_proxy_free_bytes',
      help: 'Free space of the disk of DATA_DIR, and of the embedded Postgres. Below MIN_FREE_SPACE_MB nothing is admitted.',
      labelNames: ['place'],
      registers: [registry],
      collect() {
        for (const { place, bytes } of space.freeBytes) this.set({ place }, bytes);
      },
    });
    new Gauge({
      name: 'payout_proxy_space_reserve_bytes',
      help: 'Space that the database keeps for outcomes (DATABASE_RESERVE_MB). 0 after its disk was full. Absent without a reserve.',
      registers: [registry],
      collect() {
        this.remove();
        if (space.reserveBytes !== undefined) this.set(space.reserveBytes);
      },
    });
  }
}
