import { Module } from '@nestjs/common';
import { GatewayModule } from '../../gateway/gateway.module';
import { CollectionsController } from './collections.controller';

@Module({ imports: [GatewayModule], controllers: [CollectionsController] })
export class CollectionsModule {}
