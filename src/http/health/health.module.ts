import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { JobsModule } from '../../platform/jobs/jobs.module';
import { MetricsModule } from '../metrics/metrics.module';
import { HealthController } from './health.controller';
import { FenceMetrics } from './fence-metrics';
import { ReplicaMetrics } from './replica-metrics';
import { StorageMetrics } from './storage-metrics';
import { JobMetrics } from './job-metrics';
import { MetricsController } from './metrics.controller';
import { ReadinessService } from './readiness.service';

@Module({
  imports: [TerminusModule.forRoot({ logger: false }), MetricsModule, JobsModule],
  controllers: [HealthController, MetricsController],
  providers: [FenceMetrics, JobMetrics, ReadinessService, ReplicaMetrics, StorageMetrics],
})
export class HealthModule {}
