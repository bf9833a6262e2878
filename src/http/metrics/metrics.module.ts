import { Module } from '@nestjs/common';
import { MetricsService } from './metrics.service';
import { ReconciliationMetrics } from './reconciliation-metrics';

@Module({
  providers: [MetricsService, ReconciliationMetrics],
  exports: [MetricsService, ReconciliationMetrics],
})
export class MetricsModule {}
