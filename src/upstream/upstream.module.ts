import { Module } from '@nestjs/common';
import { MetricsModule } from '../metrics/metrics.module';
import { UpstreamService } from './upstream.service';

@Module({ imports: [MetricsModule], providers: [UpstreamService], exports: [UpstreamService] })
export class UpstreamModule {}
