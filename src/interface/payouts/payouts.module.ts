import { Module } from '@nestjs/common';
import { GatewayModule } from '../../gateway/gateway.module';
import { PayoutsController } from './payouts.controller';

@Module({ imports: [GatewayModule], controllers: [PayoutsController] })
export class PayoutsModule {}
