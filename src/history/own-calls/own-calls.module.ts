import { Module } from '@nestjs/common';
import { AuditModule } from '../history.module';
import { JournalModule } from '../../journal/journal.module';
import { CallsController } from './own-calls.controller';

@Module({ imports: [AuditModule, JournalModule], controllers: [CallsController] })
export class CallsModule {}
