import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { JournalModule } from '../journal/journal.module';
import { UpstreamModule } from '../upstream/upstream.module';
import { DecisionsController } from './findings/decisions.controller';
import { DecisionsService } from './findings/decisions.service';
import { FindingsController } from './findings/findings.controller';
import { FindingsService } from './findings/findings.service';

/** Compares the history with the upstream's, and settles what is in doubt. */
@Module({
  imports: [AuditModule, JournalModule, UpstreamModule],
  controllers: [FindingsController, DecisionsController],
  providers: [FindingsService, DecisionsService],
})
export class ReconciliationModule {}
