import { Module } from '@nestjs/common';
import { ClientsModule } from '../clients/clients.module';
import { ChangeDecisionsService } from './change-decisions.service';
import { GovernanceService } from './governance.service';

const SERVICES = [GovernanceService, ChangeDecisionsService];

@Module({ imports: [ClientsModule], providers: SERVICES, exports: SERVICES })
export class GovernanceModule {}
