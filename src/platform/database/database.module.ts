import { Global, Module } from '@nestjs/common';
import { ConnectionsService } from './connections.service';
import { DurabilityService } from './durability.service';
import { ClockService } from './clock.service';
import { EpochService } from './epoch.service';
import { FailuresService } from './failures.service';
import { HeartbeatService } from './heartbeat.service';
import { PrismaService } from './prisma.service';
import { ProcessService } from './process.service';
import { SidePrisma } from './side-prisma';
import { ReaderPrisma } from './reader-prisma';
import { ReplicaService } from './replica.service';
import { SpaceService } from './space.service';

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
