import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { JournalModule } from '../journal/journal.module';
import { CallsController } from './calls.controller';

@Module({ imports: [AuditModule, JournalModule], controllers: [CallsController] })
export class CallsModule {}
