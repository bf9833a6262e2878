import { Module } from '@nestjs/common';
import { SpendingService } from './spending.service';

@Module({ providers: [SpendingService], exports: [SpendingService] })
export class PolicyModule {}
