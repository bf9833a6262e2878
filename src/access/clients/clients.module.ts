import { Module } from '@nestjs/common';
import { BeneficiariesService } from './beneficiaries.service';
import { ChangeDecisionsService } from './change-decisions.service';
import { ClientsService } from './clients.service';
import { DemoClientsService } from './demo-clients.service';
import { GovernanceService } from './governance.service';

const SERVICES = [ClientsService, GovernanceService, ChangeDecisionsService, BeneficiariesService, DemoClientsService];

@Module({ providers: SERVICES, exports: SERVICES })
export class ClientsModule {}
