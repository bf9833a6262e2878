import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { ForwardingModule } from '../forwarding/forwarding.module';
import { JournalModule } from '../journal/journal.module';
import { MetricsModule } from '../metrics/metrics.module';
import { ApprovalsController } from './approvals.controller';
import { ApprovalsService } from './approvals.service';

@Module({
  imports: [AuditModule, ForwardingModule, JournalModule, MetricsModule],
  controllers: [ApprovalsController],
  providers: [ApprovalsService],
})
export class ApprovalsModule {}
