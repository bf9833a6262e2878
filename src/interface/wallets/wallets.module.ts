import { Module } from '@nestjs/common';
import { GatewayModule } from '../../gateway/gateway.module';
import { WalletsController } from './wallets.controller';

@Module({ imports: [GatewayModule], controllers: [WalletsController] })
export class WalletsModule {}
