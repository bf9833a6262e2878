import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { HistoryModule } from '../../history/history.module';
import { GatewayModule } from '../../gateway/gateway.module';
import { UpstreamModule } from '../../gateway/upstream/upstream.module';
import { JournalModule } from '../../journal/journal.module';
import { MetricsModule } from '../../http/metrics/metrics.module';
import { PolicyModule } from '../../policy/policy.module';
import { ApprovalsController } from './approvals.controller';
import { ApprovalsService } from './approvals.service';
import { ForecastService } from './forecast.service';

@Module({
  imports: [AuthModule, HistoryModule, GatewayModule, UpstreamModule, JournalModule, MetricsModule, PolicyModule],
  controllers: [ApprovalsController],
  providers: [ApprovalsService, ForecastService],
})
export class ApprovalsModule {}
