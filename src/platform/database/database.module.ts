import { Global, Module } from '@nestjs/common';
import { PrismaService } from './prisma.service';
import { ProcessService } from './process.service';
import { ReaderPrisma } from './reader-prisma';

@Global()
@Module({
  providers: [
    PrismaService,
    ProcessService,
    { provide: ReaderPrisma, useFactory: ({ reader }: PrismaService) => reader, inject: [PrismaService] },
  ],
  exports: [PrismaService, ProcessService, ReaderPrisma],
})
export class DatabaseModule {}
