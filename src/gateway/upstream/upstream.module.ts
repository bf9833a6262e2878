import { Module } from '@nestjs/common';
import { MetricsModule } from '../../http/metrics/metrics.module';
import { UpstreamService } from './upstream.service';

@Module({ imports: [MetricsModule], providers: [UpstreamService], exports: [UpstreamService] })
export class UpstreamModule {}
