import { Module } from '@nestjs/common';
import { ClientsModule } from '../clients/clients.module';
import { ClientsController } from './clients.controller';
import { KeysController } from './keys.controller';

@Module({ imports: [ClientsModule], controllers: [ClientsController, KeysController] })
export class AdministrationModule {}
