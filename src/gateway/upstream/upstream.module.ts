import { Module } from '@nestjs/common';
import { MetricsModule } from '../../http/metrics/metrics.module';
import { EgressModule } from '../../platform/network/egress.module';
import { MayPay } from '../may-pay/may-pay.service';
import { UpstreamService } from './upstream.service';

@Module({
  imports: [EgressModule, MetricsModule],
  providers: [MayPay, UpstreamService],
  exports: [MayPay, UpstreamService],
})
export class UpstreamModule {}
