import { Global, Module } from '@nestjs/common';
import { PrismaService } from './pools/prisma.service';
import { ReaderPrisma } from './pools/reader-prisma';
import { ReplicaService } from './pools/replica.service';
import { SidePrisma } from './pools/side-prisma';

const EXPORTED = [PrismaService, SidePrisma, ReplicaService];

@Global()
@Module({
  providers: [
    ...EXPORTED,
    { provide: ReaderPrisma, useFactory: ({ reader }: PrismaService) => reader, inject: [PrismaService] },
  ],
  exports: [...EXPORTED, ReaderPrisma],
})
export class DatabaseModule {}
