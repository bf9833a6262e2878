import { Module } from '@nestjs/common';
import { HeldJobsService } from './held-jobs.service';

@Module({ providers: [HeldJobsService], exports: [HeldJobsService] })
export class JobsModule {}
