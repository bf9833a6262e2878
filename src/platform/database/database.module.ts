import { Global, Module } from '@nestjs/common';
import { HeartbeatService } from './heartbeat.service';
import { PrismaService } from './prisma.service';
import { ProcessService } from './process.service';
import { ReaderPrisma } from './reader-prisma';

@Global()
@Module({
  providers: [
    PrismaService,
    ProcessService,
    HeartbeatService,
    { provide: ReaderPrisma, useFactory: ({ reader }: PrismaService) => reader, inject: [PrismaService] },
  ],
  exports: [PrismaService, ProcessService, HeartbeatService, ReaderPrisma],
})
export class DatabaseModule {}
