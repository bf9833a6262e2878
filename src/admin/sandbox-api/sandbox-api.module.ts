import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { SandboxControlService } from './control.service';
import { SandboxApiController } from './sandbox-api.controller';
import { SandboxApiService } from './sandbox-api.service';

@Module({
  imports: [AuthModule],
  controllers: [SandboxApiController],
  providers: [SandboxControlService, SandboxApiService],
})
export class SandboxApiModule {}
