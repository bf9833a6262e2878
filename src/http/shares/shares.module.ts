import { Global, Module } from '@nestjs/common';
import { MetricsModule } from '../metrics/metrics.module';
import { SharesService } from './shares.service';

@Global() // any route may take turns
@Module({ imports: [MetricsModule], providers: [SharesService], exports: [SharesService] })
export class SharesModule {}
