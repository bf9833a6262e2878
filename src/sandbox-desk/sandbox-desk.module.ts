import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { SandboxControlService } from './control.service';
import { SandboxDeskController } from './sandbox-desk.controller';
import { SandboxDeskService } from './sandbox-desk.service';

@Module({
  imports: [AuthModule],
  controllers: [SandboxDeskController],
  providers: [SandboxControlService, SandboxDeskService],
})
export class SandboxDeskModule {}
