import { Module } from '@nestjs/common';
import { GatewayModule } from '../../gateway/gateway.module';
import { SubAccountsController } from './sub-accounts.controller';

@Module({ imports: [GatewayModule], controllers: [SubAccountsController] })
export class SubAccountsModule {}
