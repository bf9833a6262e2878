import { Module } from '@nestjs/common';
import { ForwardingModule } from '../../gateway/forwarding/forwarding.module';
import { SendController } from './send.controller';

@Module({ imports: [ForwardingModule], controllers: [SendController] })
export class SendModule {}
