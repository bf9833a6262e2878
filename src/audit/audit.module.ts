import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { JournalModule } from '../journal/journal.module';
import { AccessesController } from './accesses.controller';
import { AccessesService } from './accesses.service';
import { AuditController } from './audit.controller';
import { IndexService } from './index.service';
import { PresentService } from './present.service';
import { ReadingsInterceptor } from './readings.interceptor';
import { RecordsService } from './records.service';
import { SearchService } from './search.service';
import { ShapesController } from './shapes.controller';
import { ShapesService } from './shapes.service';
import { StoryService } from './story.service';

@Module({
  imports: [JournalModule],
  controllers: [AuditController, AccessesController, ShapesController],
  providers: [
    AccessesService,
    IndexService,
    { provide: APP_INTERCEPTOR, useClass: ReadingsInterceptor },
    PresentService,
    RecordsService,
    SearchService,
    ShapesService,
    StoryService,
  ],
  exports: [PresentService, RecordsService, SearchService],
})
export class AuditModule {}
