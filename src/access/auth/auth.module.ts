import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { KeyCallersService } from '../callers/key-callers.service';
import { LastUsesService } from '../callers/last-uses.service';
import { TokenCallersService } from '../callers/token-callers.service';
import { PersonsService } from '../people/persons.service';
import { PageSessionsService } from '../sessions/page-sessions.service';
import { ProviderSignOutsService } from '../sessions/provider-sign-outs.service';
import { SessionsService } from '../sessions/sessions.service';
import { TokensService } from '../tokens/tokens.service';
import { UsedProofsService } from '../tokens/used-proofs.service';
import { AllowGuard } from './allow';
import { FourEyesService } from './four-eyes';
import { OriginsService } from './origins';
import { RequestWindowsService } from './rate-limit';
import { StandingService } from './standing.service';
import { EgressModule } from '../../platform/network/egress.module';
import { StepUpGuard, StepUpService } from './step-up';

const EXPORTED = [
  FourEyesService,
  KeyCallersService,
  OriginsService,
  PageSessionsService,
  PersonsService,
  ProviderSignOutsService,
  RequestWindowsService,
  SessionsService,
  StandingService,
  StepUpService,
  TokenCallersService,
  UsedProofsService,
];

@Module({
  imports: [EgressModule],
  providers: [
    ...EXPORTED,
    LastUsesService,
    TokensService,
    { provide: APP_GUARD, useClass: AllowGuard },
    { provide: APP_GUARD, useClass: StepUpGuard },
  ],
  exports: EXPORTED,
})
export class AuthModule {}
