import { Module } from '@nestjs/common';
import { CheckpointComparison } from './checkpoint-file';
import { LogController, ReceiptsController } from './log.controller';
import { ProofsService, ReceiptsService } from './proofs.service';

@Module({
  controllers: [LogController, ReceiptsController],
  providers: [CheckpointComparison, ProofsService, ReceiptsService],
})
export class LogModule {}
