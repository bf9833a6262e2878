import { Module } from '@nestjs/common';
import { GatewayModule } from '../../gateway/gateway.module';
import { AccountController } from './account.controller';

@Module({ imports: [GatewayModule], controllers: [AccountController] })
export class AccountModule {}
