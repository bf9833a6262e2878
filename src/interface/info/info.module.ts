import { Module } from '@nestjs/common';
import { ForwardingModule } from '../../gateway/forwarding/forwarding.module';
import { InfoController } from './info.controller';

@Module({ imports: [ForwardingModule], controllers: [InfoController] })
export class InfoModule {}
