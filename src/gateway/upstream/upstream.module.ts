import { Module } from '@nestjs/common';
import { MetricsModule } from '../../http/metrics/metrics.module';
import { EgressModule } from '../../platform/network/egress.module';
import { UpstreamService } from './upstream.service';

@Module({ imports: [EgressModule, MetricsModule], providers: [UpstreamService], exports: [UpstreamService] })
export class UpstreamModule {}
