import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { EgressModule } from '../../platform/network/egress.module';
import { ConsoleProviderService } from './console-provider.service';
import { PageProvidersService } from './page-providers.service';

const SERVICES = [ConsoleProviderService, PageProvidersService];

@Module({ imports: [AuthModule, EgressModule], providers: SERVICES, exports: SERVICES })
export class OpenIdModule {}
