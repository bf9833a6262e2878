import { Global, Module } from '@nestjs/common';
import { GovernanceModule } from '../../access/governance/governance.module';
import { StopLifts } from '../../access/governance/stop-lifts';
import { StopLiftingService } from './stop-lifting.service';
import { StopsController } from './stops.controller';
import { StopsService } from './stops.service';

@Global() // for StopLifts: the governance of changes is below and must not import it
@Module({
  imports: [GovernanceModule],
  controllers: [StopsController],
  providers: [StopsService, StopLiftingService, { provide: StopLifts, useExisting: StopsService }],
  exports: [StopLifts],
})
export class StopsModule {}
