import { Module } from '@nestjs/common';
import { ForwardingModule } from '../../gateway/forwarding/forwarding.module';
import { WalletsController } from './wallets.controller';

@Module({ imports: [ForwardingModule], controllers: [WalletsController] })
export class WalletsModule {}
