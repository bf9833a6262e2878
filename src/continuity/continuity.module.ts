import { Global, Module } from '@nestjs/common';
import { DatabaseModule } from '../platform/database/database.module';
import { ClockService } from './fence/clock.service';
import { ConnectionsService } from './fence/connections.service';
import { DurabilityService } from './fence/durability.service';
import { EpochService } from './fence/epoch.service';
import { FenceService } from './fence/fence.service';
import { ProcessService } from './fence/process.service';
import { FailuresService } from './heartbeat/failures.service';
import { HeartbeatService } from './heartbeat/heartbeat.service';
import { SpaceService } from './space/space.service';

const EXPORTED = [
  FenceService,
  HeartbeatService,
  ClockService,
  DurabilityService,
  EpochService,
  ProcessService,
  SpaceService,
];

@Global()
@Module({
  imports: [DatabaseModule],
  providers: [...EXPORTED, ConnectionsService, FailuresService],
  exports: EXPORTED,
})
export class ContinuityModule {}
