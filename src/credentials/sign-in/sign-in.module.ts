import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { OpenIdModule } from '../openid/openid.module';
import { PageSessionsController } from './page-sessions.controller';
import { SessionController } from './session.controller';

@Module({ imports: [AuthModule, OpenIdModule], controllers: [SessionController, PageSessionsController] })
export class SignInModule {}
