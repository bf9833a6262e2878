import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { ReplicaService } from '../../platform/database/replica.service';
import { MetricsService } from '../metrics/metrics.service';

/** Reports where the history is read, and how late the replica is. */
@Injectable()
export class ReplicaMetrics {
  constructor(replica: ReplicaService, { registry }: MetricsService) {
    new Gauge({
      name: 'payout_proxy_history_reads',
      help: 'Reads of the history since the start, by the server that answered them: the primary, or the replica of DATABASE_REPLICA_URL.',
      labelNames: ['server'],
      registers: [registry],
      collect() {
        for (const [server, count] of Object.entries(replica.reads)) this.set({ server }, count);
      },
    });
    new Gauge({
      name: 'payout_proxy_replica_lag_seconds',
      help: 'Time since the last commit that the replica has replayed. NaN without a replica, and while it does not answer.',
      registers: [registry],
      async collect() {
        this.set((await replica.lag()) ?? NaN);
      },
    });
  }
}
