import { Module } from '@nestjs/common';
import { ClientsModule } from '../clients/clients.module';
import { PolicyModule } from '../policy/policy.module';
import { ClientsController } from './clients.controller';
import { KeysController } from './keys.controller';

@Module({ imports: [ClientsModule, PolicyModule], controllers: [ClientsController, KeysController] })
export class AdministrationModule {}
