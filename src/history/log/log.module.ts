import { Module } from '@nestjs/common';
import { LogController } from './log.controller';
import { ProofsService } from './proofs.service';
import { AuditReceiptsController, ReceiptsController } from './receipts.controller';
import { ReceiptsService } from './receipts.service';

@Module({
  controllers: [LogController, ReceiptsController, AuditReceiptsController],
  providers: [ProofsService, ReceiptsService],
})
export class LogModule {}
