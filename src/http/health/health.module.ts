import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { HeldJobsService } from '../../platform/jobs/held-jobs.service';
import { MetricsModule } from '../metrics/metrics.module';
import { HealthController } from './health.controller';
import { JobMetrics } from './job-metrics';
import { MetricsController } from './metrics.controller';
import { ReadinessService } from './readiness.service';

@Module({
  imports: [TerminusModule.forRoot({ logger: false }), MetricsModule],
  controllers: [HealthController, MetricsController],
  providers: [HeldJobsService, JobMetrics, ReadinessService],
  exports: [HeldJobsService],
})
export class HealthModule {}
