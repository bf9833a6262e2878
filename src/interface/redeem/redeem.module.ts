import { Module } from '@nestjs/common';
import { ForwardingModule } from '../../gateway/forwarding/forwarding.module';
import { RedeemController } from './redeem.controller';

@Module({ imports: [ForwardingModule], controllers: [RedeemController] })
export class RedeemModule {}
