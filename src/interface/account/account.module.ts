import { Module } from '@nestjs/common';
import { ForwardingModule } from '../../gateway/forwarding/forwarding.module';
import { AccountController } from './account.controller';

@Module({ imports: [ForwardingModule], controllers: [AccountController] })
export class AccountModule {}
