import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { IndexService } from './index.service';
import { ItemsController } from './items.controller';
import { SummaryService } from './summary.service';
import { PresentService } from './present.service';
import { RecordsService } from './records.service';
import { SearchService } from './search.service';
import { ShapesController } from './shapes.controller';
import { ShapesService } from './shapes.service';

@Module({
  controllers: [AuditController, ItemsController, ShapesController],
  providers: [IndexService, PresentService, RecordsService, SearchService, ShapesService, SummaryService],
  exports: [PresentService, RecordsService, SearchService],
})
export class AuditModule {}
