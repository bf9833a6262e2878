import { Global, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AccessModule } from '../access/access.module';
import { JobsModule } from '../platform/jobs/jobs.module';
import { FenceMetrics, JobMetrics, ReplicaMetrics, StorageMetrics } from './health/gauges';
import { HealthController } from './health/health.controller';
import { MetricsController } from './health/metrics.controller';
import { ReadinessService } from './health/readiness.service';
import { MetricsModule } from './metrics/metrics.module';
import { QuotasService } from './quotas/quotas.service';
import { EventStreams } from './streams/event-streams.service';

@Global() // any route may take turns, or be a stream
@Module({
  imports: [TerminusModule.forRoot({ logger: false }), AccessModule, MetricsModule, JobsModule],
  controllers: [HealthController, MetricsController],
  providers: [
    EventStreams,
    FenceMetrics,
    JobMetrics,
    ReadinessService,
    ReplicaMetrics,
    QuotasService,
    StorageMetrics,
  ],
  exports: [EventStreams, QuotasService],
})
export class HttpModule {}
