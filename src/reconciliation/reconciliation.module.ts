import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { JournalModule } from '../journal/journal.module';
import { MetricsModule } from '../metrics/metrics.module';
import { UpstreamModule } from '../upstream/upstream.module';
import { EventsController } from './events/events.controller';
import { ReadBackService } from './events/read-back.service';
import { SignedEventsService } from './events/signed-events.service';
import { LookService } from './resolver/look.service';
import { ResolverService } from './resolver/resolver.service';
import { RoundsController } from './resolver/rounds.controller';
import { SourcesService } from './sources/sources.service';

/** Compares the history with the upstream's, and settles what is in doubt. */
@Module({
  imports: [AuditModule, JournalModule, MetricsModule, UpstreamModule],
  controllers: [EventsController, RoundsController],
  providers: [LookService, ReadBackService, ResolverService, SignedEventsService, SourcesService],
  exports: [SourcesService],
})
export class ReconciliationModule {}
