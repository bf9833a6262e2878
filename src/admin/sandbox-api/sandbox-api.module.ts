import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { SandboxControlService } from './control.service';
import { SandboxLiesController } from './lies.controller';
import { SandboxLiesService } from './lies.service';
import { SandboxApiController } from './sandbox-api.controller';
import { SandboxApiService } from './sandbox-api.service';

@Module({
  imports: [AuthModule],
  controllers: [SandboxApiController, SandboxLiesController],
  providers: [SandboxControlService, SandboxApiService, SandboxLiesService],
})
export class SandboxApiModule {}
