import { Module } from '@nestjs/common';
import { ForwardingModule } from '../../gateway/forwarding/forwarding.module';
import { SubAccountsController } from './sub-accounts.controller';

@Module({ imports: [ForwardingModule], controllers: [SubAccountsController] })
export class SubAccountsModule {}
