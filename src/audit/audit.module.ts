import { Global, Module } from '@nestjs/common';
import { Readings } from '../auth/shows';
import { AuthModule } from '../auth/auth.module';
import { JournalModule } from '../journal/journal.module';
import { AccessesController } from './accesses.controller';
import { AccessesService } from './accesses.service';
import { ActivityController } from './activity.controller';
import { ActivityService } from './activity.service';
import { AuditController } from './audit.controller';
import { CheckpointsService } from './export/checkpoints.service';
import { ExportController } from './export/export.controller';
import { ExportService } from './export/export.service';
import { ManifestsService } from './export/manifests.service';
import { IndexService } from './index.service';
import { ItemsController } from './items.controller';
import { SummaryService } from './summary.service';
import { PresentService } from './present.service';
import { ReadingsService } from './readings.service';
import { RecordsService } from './records.service';
import { SearchService } from './search.service';
import { ShapesController } from './shapes.controller';
import { ShapesService } from './shapes.service';
import { StoryService } from './story.service';

@Global() // for Readings: a route that shows something may be anywhere
@Module({
  imports: [AuthModule, JournalModule],
  controllers: [
    ActivityController,
    AuditController,
    AccessesController,
    ExportController,
    ItemsController,
    ShapesController,
  ],
  providers: [
    AccessesService,
    ActivityService,
    CheckpointsService,
    ExportService,
    IndexService,
    ManifestsService,
    PresentService,
    ReadingsService,
    { provide: Readings, useExisting: ReadingsService },
    RecordsService,
    SearchService,
    ShapesService,
    StoryService,
    SummaryService,
  ],
  exports: [IndexService, PresentService, Readings, ReadingsService, RecordsService, SearchService],
})
export class AuditModule {}
