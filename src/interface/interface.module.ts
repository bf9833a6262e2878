import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module';
import { AccountController } from './account/account.controller';
import { CollectionsController } from './collections/collections.controller';
import { InfoController } from './info/info.controller';
import { PayoutsController } from './payouts/payouts.controller';
import { RedeemController } from './redeem/redeem.controller';
import { SendController } from './send/send.controller';
import { SubAccountsController } from './sub-accounts/sub-accounts.controller';
import { WalletsController } from './wallets/wallets.controller';

/** The interface of the upstream, under `/api/v0.1`. */
@Module({
  imports: [GatewayModule],
  controllers: [
    SendController,
    PayoutsController,
    AccountController,
    WalletsController,
    SubAccountsController,
    InfoController,
    CollectionsController,
    RedeemController,
  ],
})
export class InterfaceModule {}
