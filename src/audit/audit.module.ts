import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { RecordsService } from './records.service';
import { SearchService } from './search.service';
import { ShapesController } from './shapes.controller';
import { ShapesService } from './shapes.service';

@Module({
  controllers: [AuditController, ShapesController],
  providers: [RecordsService, SearchService, ShapesService],
  exports: [RecordsService],
})
export class AuditModule {}
