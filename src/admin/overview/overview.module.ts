import { Module } from '@nestjs/common';
import { HistoryModule } from '../../history/history.module';
import { PolicyModule } from '../../policy/policy.module';
import { ReconciliationModule } from '../../reconciliation/reconciliation.module';
import { StreamsModule } from '../../http/streams/streams.module';
import { UpstreamModule } from '../../gateway/upstream/upstream.module';
import { HistoryService } from './history.service';
import { OverviewController } from './overview.controller';
import { OverviewService } from './overview.service';
import { OverviewStreams } from './overview-streams.service';
import { SectionsService } from './sections.service';

@Module({
  imports: [HistoryModule, PolicyModule, ReconciliationModule, StreamsModule, UpstreamModule],
  controllers: [OverviewController],
  providers: [HistoryService, OverviewService, OverviewStreams, SectionsService],
})
export class OverviewModule {}
