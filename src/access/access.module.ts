import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EgressModule } from '../platform/network/egress.module';
import { CredentialRecheckService } from './auth/credential-recheck.service';
import { FourEyesService } from './auth/four-eyes';
import { OriginsService } from './auth/origins';
import { RequestWindowsService } from './auth/rate-limit';
import { AllowGuard } from './auth/route-access';
import { StepUpGuard, StepUpService } from './auth/step-up';
import { KeyCallersService } from './callers/key-callers.service';
import { LastUsesService } from './callers/look-ups';
import { TokenCallersService } from './callers/token-callers.service';
import { BeneficiariesService } from './clients/beneficiaries.service';
import { ClientsService } from './clients/clients.service';
import { DemoClientsService } from './clients/demo-clients.service';
import { ChangeDecisionsService } from './dual-control/change-decisions.service';
import { ClaimsService } from './dual-control/claims.service';
import { DualControlService } from './dual-control/dual-control.service';
import { EphemeralKeysService } from './ephemeral/ephemeral-keys.service';
import { PersonExceptionsService } from './people/person-exceptions';
import { PersonRevocationsService } from './people/person-revocations.service';
import { PersonsService } from './people/persons.service';
import { PageSessionsService } from './sessions/page-sessions.service';
import { ProviderSignOutsService } from './sessions/provider-sign-outs.service';
import { SessionsService } from './sessions/sessions.service';
import { TokensService } from './tokens/tokens.service';
import { UsedProofsService } from './tokens/used-proofs.service';

const EXPORTED = [
  BeneficiariesService,
  ChangeDecisionsService,
  ClaimsService,
  ClientsService,
  DemoClientsService,
  EphemeralKeysService,
  FourEyesService,
  DualControlService,
  KeyCallersService,
  OriginsService,
  PageSessionsService,
  PersonExceptionsService,
  PersonRevocationsService,
  PersonsService,
  ProviderSignOutsService,
  RequestWindowsService,
  SessionsService,
  CredentialRecheckService,
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
export class AccessModule {}
