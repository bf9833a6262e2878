import { Module } from '@nestjs/common';
import { ForwardingModule } from '../forwarding/forwarding.module';
import { SendController } from './send.controller';

@Module({ imports: [ForwardingModule], controllers: [SendController] })
export class SendModule {}
