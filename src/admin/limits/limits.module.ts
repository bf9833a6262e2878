import { Module } from '@nestjs/common';
import { PolicyModule } from '../../policy/policy.module';
import { LimitsController } from './limits.controller';

@Module({ imports: [PolicyModule], controllers: [LimitsController] })
export class LimitsModule {}
