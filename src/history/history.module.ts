import { Global, Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { AccessRecorder } from '../access/auth/route-access';
import { UpstreamModule } from '../gateway/upstream/upstream.module';
import { MetricsModule } from '../http/metrics/metrics.module';
import { JournalModule } from '../journal/journal.module';
import { AccessesController, ActivityController } from './access-log/access-log.controller';
import { AccessesService, ReadingsService } from './access-log/accesses.service';
import { ActivityService } from './access-log/activity.service';
import { ExportController } from './export/export.controller';
import { ExportService } from './export/export.service';
import { LogController, ReceiptsController } from './log/log.controller';
import { ProofsService, ReceiptsService } from './log/proofs.service';
import { CheckpointComparison } from './log/sealing/checkpoint-file';
import { OwnCallsController, PayoutStatesController } from './own-calls/own-calls.controller';
import { SettlementsByHandService } from './own-calls/settlements-by-hand.service';
import { CallVersionsService, WaitsService } from './own-calls/waits.service';
import { PresentService, RecordsService } from './records/records.service';
import { IndexService } from './search/index.service';
import { SearchController } from './search/search.controller';
import { SearchService } from './search/search.service';
import { SummaryService } from './search/summary.service';
import { ShapesController, StatusWordsController } from './shapes/shapes.controller';
import { TimelineService } from './timeline/timeline.service';

@Global() // Any route may need Readings.
@Module({
  imports: [AccessModule, JournalModule, MetricsModule, UpstreamModule],
  controllers: [
    OwnCallsController,
    PayoutStatesController,
    ActivityController,
    SearchController,
    AccessesController,
    ExportController,
    ShapesController,
    StatusWordsController,
    LogController,
    ReceiptsController,
  ],
  providers: [
    AccessesService,
    ActivityService,
    CallVersionsService,
    CheckpointComparison,
    ExportService,
    IndexService,
    PresentService,
    ProofsService,
    ReadingsService,
    { provide: AccessRecorder, useExisting: ReadingsService },
    ReceiptsService,
    RecordsService,
    SearchService,
    SettlementsByHandService,
    TimelineService,
    SummaryService,
    WaitsService,
  ],
  exports: [
    IndexService,
    PresentService,
    AccessRecorder,
    ReadingsService,
    RecordsService,
    SearchService,
    SettlementsByHandService,
    SummaryService,
  ],
})
export class HistoryModule {}
