import { Module } from '@nestjs/common';
import { ForwardingModule } from '../forwarding/forwarding.module';
import { SubAccountsController } from './sub-accounts.controller';

@Module({ imports: [ForwardingModule], controllers: [SubAccountsController] })
export class SubAccountsModule {}
