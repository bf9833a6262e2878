import { Module } from '@nestjs/common';
import { CheckpointComparison } from './checkpoint-comparison';
import { LogController } from './log.controller';
import { ProofsService } from './proofs.service';
import { ReceiptsController } from './receipts.controller';
import { ReceiptsService } from './receipts.service';

@Module({
  controllers: [LogController, ReceiptsController],
  providers: [CheckpointComparison, ProofsService, ReceiptsService],
})
export class LogModule {}
