import { Module } from '@nestjs/common';
import { BeneficiariesService } from './beneficiaries.service';
import { ClientsService } from './clients.service';
import { DemoClientsService } from './demo-clients.service';

const SERVICES = [ClientsService, BeneficiariesService, DemoClientsService];

@Module({ providers: SERVICES, exports: SERVICES })
export class ClientsModule {}
