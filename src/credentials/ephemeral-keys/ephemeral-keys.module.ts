import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { ClientsModule } from '../../access/clients/clients.module';
import { EphemeralKeysService } from '../../access/ephemeral/ephemeral-keys.service';
import { EphemeralKeysController } from './ephemeral-keys.controller';

@Module({
  imports: [AuthModule, ClientsModule],
  providers: [EphemeralKeysService],
  controllers: [EphemeralKeysController],
})
export class EphemeralKeysModule {}
