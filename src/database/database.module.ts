import { Global, Module } from '@nestjs/common';
import { PrismaService } from './prisma.service';
import { ProcessService } from './process.service';

@Global()
@Module({ providers: [PrismaService, ProcessService], exports: [PrismaService, ProcessService] })
export class DatabaseModule {}
