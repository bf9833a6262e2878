import { DynamicModule, Module } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import { AccessModule } from '../access/access.module';
import { AdminModule } from '../admin/admin.module';
import { ContinuityModule } from '../continuity/continuity.module';
import { CredentialsModule } from '../credentials/credentials.module';
import { HistoryModule } from '../history/history.module';
import { HttpModule } from '../http/http.module';
import { RequestValidationPipe } from '../http/validation/validation.pipe';
import { AccountModule } from '../interface/account/account.module';
import { CollectionsModule } from '../interface/collections/collections.module';
import { InfoModule } from '../interface/info/info.module';
import { PayoutsModule } from '../interface/payouts/payouts.module';
import { RedeemModule } from '../interface/redeem/redeem.module';
import { SendModule } from '../interface/send/send.module';
import { SubAccountsModule } from '../interface/sub-accounts/sub-accounts.module';
import { WalletsModule } from '../interface/wallets/wallets.module';
import { JournalModule } from '../journal/journal.module';
import { RunningConfig } from '../platform/config/config';
import { SettingsModule } from '../platform/config/config.module';
import { DatabaseModule } from '../platform/database/database.module';
import { loggingOptions } from '../platform/logging/logging';
import { StorageModule } from '../platform/storage/storage.module';
import { ReconciliationModule } from '../reconciliation/reconciliation.module';

@Module({})
export class AppModule {
  static with(settings: RunningConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SettingsModule.with(settings),
        LoggerModule.forRoot(loggingOptions(settings.logLevel, 'proxy')),
        DatabaseModule,
        ContinuityModule,
        StorageModule,
        AccessModule,
        JournalModule,
        // The interface
        SendModule,
        PayoutsModule,
        AccountModule,
        WalletsModule,
        SubAccountsModule,
        InfoModule,
        CollectionsModule,
        RedeemModule,
        // The history, and its operators and auditors
        HistoryModule,
        ReconciliationModule,
        AdminModule,
        CredentialsModule,
        HttpModule,
      ],
      providers: [{ provide: APP_PIPE, useClass: RequestValidationPipe }],
    };
  }
}
