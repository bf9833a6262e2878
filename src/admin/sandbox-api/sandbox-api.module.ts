import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { SandboxControlService } from './control.service';
import { SandboxDeskController } from './sandbox-api.controller';
import { SandboxDeskService } from './sandbox-api.service';

@Module({
  imports: [AuthModule],
  controllers: [SandboxDeskController],
  providers: [SandboxControlService, SandboxDeskService],
})
export class SandboxDeskModule {}
