import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { RecordsService } from './records.service';
import { SearchService } from './search.service';

@Module({ controllers: [AuditController], providers: [RecordsService, SearchService], exports: [RecordsService] })
export class AuditModule {}
