import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { SignInModule } from '../../access/sign-in/sign-in.module';
import { PageSessionsController } from './page-sessions.controller';
import { SessionController } from './session.controller';

@Module({ imports: [AuthModule, SignInModule], controllers: [SessionController, PageSessionsController] })
export class SessionModule {}
