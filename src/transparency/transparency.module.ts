import { Module } from '@nestjs/common';
import { MetricsModule } from '../metrics/metrics.module';
import { SealerService } from './sealer.service';

@Module({ imports: [MetricsModule], providers: [SealerService] })
export class TransparencyModule {}
