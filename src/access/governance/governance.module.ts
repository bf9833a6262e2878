import { Module } from '@nestjs/common';
import { ClientsModule } from '../clients/clients.module';
import { PersonExceptionsService } from '../people/person-exceptions.service';
import { ChangeDecisionsService } from './change-decisions.service';
import { ClaimsService } from './claims.service';
import { GovernanceService } from './governance.service';
import { PeopleMergesService } from './people-merges.service';

const SERVICES = [
  GovernanceService,
  ChangeDecisionsService,
  ClaimsService,
  PeopleMergesService,
  PersonExceptionsService,
];

@Module({ imports: [ClientsModule], providers: SERVICES, exports: SERVICES })
export class GovernanceModule {}
