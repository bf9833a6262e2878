import { Module } from '@nestjs/common';
import { ClientsService } from './clients.service';
import { DemoClientsService } from './demo-clients.service';

@Module({ providers: [ClientsService, DemoClientsService], exports: [ClientsService, DemoClientsService] })
export class ClientsModule {}
