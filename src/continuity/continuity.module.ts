import { Global, Module } from '@nestjs/common';
import { FenceService } from './fence/fence.service';

@Global()
@Module({ providers: [FenceService], exports: [FenceService] })
export class FencingModule {}
