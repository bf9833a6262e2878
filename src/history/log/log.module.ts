import { Module } from '@nestjs/common';
import { MetricsModule } from '../../http/metrics/metrics.module';
import { LogController } from './log.controller';
import { ProofsService } from './proofs.service';
import { AuditReceiptsController, ReceiptsController } from './receipts.controller';
import { ReceiptsService } from './receipts.service';
import { SealerService } from './sealer.service';

@Module({
  imports: [MetricsModule],
  controllers: [LogController, ReceiptsController, AuditReceiptsController],
  providers: [ProofsService, ReceiptsService, SealerService],
})
export class LogModule {}
