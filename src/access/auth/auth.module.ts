import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AllowGuard } from './allow';
import { CallersService } from './callers.service';
import { PersonsService } from '../people/persons.service';
import { OriginsService } from './origins';
import { RequestWindowsService } from './rate-limit';
import { PageSessionsService } from './page-sessions.service';
import { SessionsService } from './sessions.service';
import { StandingService } from './standing.service';
import { StepUpGuard, StepUpService } from './step-up';
import { TokensService } from '../tokens/tokens.service';
import { UsedProofsService } from '../tokens/used-proofs.service';
import { LastUsesService } from './last-uses.service';
import { TokenCallersService } from './token-callers.service';

@Module({
  providers: [
    CallersService,
    LastUsesService,
    OriginsService,
    PageSessionsService,
    PersonsService,
    RequestWindowsService,
    SessionsService,
    StandingService,
    StepUpService,
    TokenCallersService,
    TokensService,
    UsedProofsService,
    { provide: APP_GUARD, useClass: AllowGuard },
    { provide: APP_GUARD, useClass: StepUpGuard },
  ],
  exports: [
    CallersService,
    OriginsService,
    PageSessionsService,
    PersonsService,
    RequestWindowsService,
    SessionsService,
    StandingService,
    StepUpService,
    TokenCallersService,
    UsedProofsService,
  ],
})
export class AuthModule {}
