import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { JournalModule } from '../journal/journal.module';
import { MetricsModule } from '../metrics/metrics.module';
import { UpstreamModule } from '../upstream/upstream.module';
import { SourcesService } from './sources/sources.service';
import { StatementsController } from './sources/statements.controller';
import { StatementsService } from './sources/statements.service';

/** Compares the history with the upstream's, and settles what is in doubt. */
@Module({
  imports: [AuditModule, JournalModule, MetricsModule, UpstreamModule],
  controllers: [StatementsController],
  providers: [SourcesService, StatementsService],
  exports: [SourcesService],
})
export class ReconciliationModule {}
