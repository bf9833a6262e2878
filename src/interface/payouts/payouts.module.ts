import { Module } from '@nestjs/common';
import { ForwardingModule } from '../../gateway/forwarding/forwarding.module';
import { PayoutsController } from './payouts.controller';

@Module({ imports: [ForwardingModule], controllers: [PayoutsController] })
export class PayoutsModule {}
