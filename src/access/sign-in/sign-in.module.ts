import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { OpenIdProviderService } from './openid-provider.service';

@Module({ imports: [AuthModule], providers: [OpenIdProviderService], exports: [OpenIdProviderService] })
export class SignInModule {}
