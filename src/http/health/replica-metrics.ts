import { Injectable } from '@nestjs/common';
import { ReplicaService } from '../../platform/database/replica.service';
import { MetricsService } from '../metrics/metrics.service';

/** Reports where the history is read, and how late the replica is. */
@Injectable()
export class ReplicaMetrics {
  constructor(replica: ReplicaService, metrics: MetricsService) {
    metrics.watch(
      'payout_proxy_history_reads',
      'Reads of the history since the start, by the server that answered them: the primary, or the replica of DATABASE_REPLICA_URL.',
      () => Object.entries(replica.reads).map(([server, value]) => ({ labels: { server }, value })),
      ['server'],
    );
    metrics.watch(
      'payout_proxy_replica_lag_seconds',
      'Time since the last commit that the replica has replayed. NaN without a replica, and while it does not answer.',
      async () => (await replica.lag()) ?? NaN,
    );
  }
}
