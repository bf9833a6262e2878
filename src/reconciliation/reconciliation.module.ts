import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { JournalModule } from '../journal/journal.module';
import { UpstreamModule } from '../upstream/upstream.module';

/** Compares the history with the upstream's, and settles what is in doubt. */
@Module({
  imports: [AuditModule, JournalModule, UpstreamModule],
  controllers: [],
  providers: [],
})
export class ReconciliationModule {}
