import { Module } from '@nestjs/common';
import { ForwardingModule } from '../forwarding/forwarding.module';
import { PayoutsController } from './payouts.controller';

@Module({ imports: [ForwardingModule], controllers: [PayoutsController] })
export class PayoutsModule {}
