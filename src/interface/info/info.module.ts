import { Module } from '@nestjs/common';
import { GatewayModule } from '../../gateway/gateway.module';
import { InfoController } from './info.controller';

@Module({ imports: [GatewayModule], controllers: [InfoController] })
export class InfoModule {}
