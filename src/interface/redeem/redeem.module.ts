import { Module } from '@nestjs/common';
import { GatewayModule } from '../../gateway/gateway.module';
import { RedeemController } from './redeem.controller';

@Module({ imports: [GatewayModule], controllers: [RedeemController] })
export class RedeemModule {}
