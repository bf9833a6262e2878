import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { EgressModule } from '../platform/network/egress.module';
import { EphemeralKeysController } from './ephemeral-keys/ephemeral-keys.controller';
import { ConsoleProviderService, PageProvidersService } from './openid/page-providers.service';
import { PageSessionsController, SessionController } from './sign-in/session.controller';

@Module({
  imports: [AccessModule, EgressModule],
  providers: [ConsoleProviderService, PageProvidersService],
  controllers: [EphemeralKeysController, SessionController, PageSessionsController],
})
export class CredentialsModule {}
