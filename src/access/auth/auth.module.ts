import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AllowGuard } from './allow';
import { CallersService } from './callers.service';
import { PersonsService } from '../people/persons.service';
import { OriginsService } from './origins';
import { RequestWindowsService } from './rate-limit';
import { SessionsService } from './sessions.service';
import { StandingService } from './standing.service';

@Module({
  providers: [
    CallersService,
    OriginsService,
    PersonsService,
    RequestWindowsService,
    SessionsService,
    StandingService,
    { provide: APP_GUARD, useClass: AllowGuard },
  ],
  exports: [CallersService, OriginsService, PersonsService, RequestWindowsService, SessionsService, StandingService],
})
export class AuthModule {}
