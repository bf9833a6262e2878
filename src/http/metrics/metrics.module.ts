import { Module } from '@nestjs/common';
import { MetricsController } from './metrics.controller';
import { MetricsService } from './metrics.service';
import { ReconciliationMetrics } from './reconciliation-metrics';

@Module({
  controllers: [MetricsController],
  providers: [MetricsService, ReconciliationMetrics],
  exports: [MetricsService, ReconciliationMetrics],
})
export class MetricsModule {}
