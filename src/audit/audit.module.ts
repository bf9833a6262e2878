import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { JournalModule } from '../journal/journal.module';
import { AccessesController } from './accesses.controller';
import { AccessesService } from './accesses.service';
import { AuditController } from './audit.controller';
import { CheckpointsService } from './export/checkpoints.service';
import { ExportController } from './export/export.controller';
import { ExportService } from './export/export.service';
import { IndexService } from './index.service';
import { ItemsController } from './items.controller';
import { SummaryService } from './summary.service';
import { PresentService } from './present.service';
import { ReadingsInterceptor } from './readings.interceptor';
import { ReadingsService } from './readings.service';
import { RecordsService } from './records.service';
import { SearchService } from './search.service';
import { ShapesController } from './shapes.controller';
import { ShapesService } from './shapes.service';
import { StoryService } from './story.service';

@Module({
  imports: [JournalModule],
  controllers: [AuditController, AccessesController, ExportController, ItemsController, ShapesController],
  providers: [
    AccessesService,
    CheckpointsService,
    ExportService,
    IndexService,
    { provide: APP_INTERCEPTOR, useClass: ReadingsInterceptor },
    PresentService,
    ReadingsService,
    RecordsService,
    SearchService,
    ShapesService,
    StoryService,
    SummaryService,
  ],
  exports: [IndexService, PresentService, ReadingsService, RecordsService, SearchService],
})
export class AuditModule {}
