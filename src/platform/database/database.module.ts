import { Global, Module } from '@nestjs/common';
import { ConnectionsService } from '../../continuity/fence/connections.service';
import { DurabilityService } from '../../continuity/fence/durability.service';
import { ClockService } from '../../continuity/fence/clock.service';
import { EpochService } from '../../continuity/fence/epoch.service';
import { FailuresService } from '../../continuity/heartbeat/failures.service';
import { HeartbeatService } from '../../continuity/heartbeat/heartbeat.service';
import { PrismaService } from './pools/prisma.service';
import { ProcessService } from '../../continuity/fence/process.service';
import { SidePrisma } from './pools/side-prisma';
import { ReaderPrisma } from './pools/reader-prisma';
import { ReplicaService } from './pools/replica.service';
import { SpaceService } from '../../continuity/space/space.service';

const EXPORTED = [
  PrismaService,
  SidePrisma,
  ProcessService,
  HeartbeatService,
  EpochService,
  DurabilityService,
  ClockService,
  ReplicaService,
  SpaceService,
];

@Global()
@Module({
  providers: [
    ...EXPORTED,
    ConnectionsService,
    FailuresService,
    { provide: ReaderPrisma, useFactory: ({ reader }: PrismaService) => reader, inject: [PrismaService] },
  ],
  exports: [...EXPORTED, ReaderPrisma],
})
export class DatabaseModule {}
