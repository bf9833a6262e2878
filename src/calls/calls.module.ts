import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { CallsController } from './calls.controller';

@Module({ imports: [AuditModule], controllers: [CallsController] })
export class CallsModule {}
