import { Module } from '@nestjs/common';
import { LogController } from './log.controller';
import { ProofsService } from './proofs.service';
import { ReceiptsController } from './receipts.controller';
import { ReceiptsService } from './receipts.service';

@Module({
  controllers: [LogController, ReceiptsController],
  providers: [ProofsService, ReceiptsService],
})
export class LogModule {}
