import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AllowGuard } from './allow';
import { CallersService } from './callers.service';
import { PersonsService } from '../people/persons.service';
import { OriginsService } from './origins';
import { RequestWindowsService } from './rate-limit';
import { SessionsService } from './sessions.service';
import { StandingService } from './standing.service';
import { StepUpGuard, StepUpService } from './step-up';

@Module({
  providers: [
    CallersService,
    OriginsService,
    PersonsService,
    RequestWindowsService,
    SessionsService,
    StandingService,
    StepUpService,
    { provide: APP_GUARD, useClass: AllowGuard },
    { provide: APP_GUARD, useClass: StepUpGuard },
  ],
  exports: [
    CallersService,
    OriginsService,
    PersonsService,
    RequestWindowsService,
    SessionsService,
    StandingService,
    StepUpService,
  ],
})
export class AuthModule {}
