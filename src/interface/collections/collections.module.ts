import { Module } from '@nestjs/common';
import { ForwardingModule } from '../../gateway/forwarding/forwarding.module';
import { CollectionsController } from './collections.controller';

@Module({ imports: [ForwardingModule], controllers: [CollectionsController] })
export class CollectionsModule {}
