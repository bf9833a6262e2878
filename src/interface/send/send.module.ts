import { Module } from '@nestjs/common';
import { GatewayModule } from '../../gateway/gateway.module';
import { SendController } from './send.controller';

@Module({ imports: [GatewayModule], controllers: [SendController] })
export class SendModule {}
